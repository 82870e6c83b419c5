"""Agents on LangChain (create_agent, which runs on LangGraph): chat completions, streamed too, and responses."""

from langchain.agents.middleware import ModelRetryMiddleware, wrap_tool_call
from langchain.messages import AIMessageChunk, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from openai import APIStatusError

import stage

RAISES = {
    400: "langchain_openai.chat_models.base.OpenAIInvalidRequestError",
    401: "langchain_openai.chat_models.base.OpenAIAuthenticationError",
    403: "langchain_openai.chat_models.base.OpenAIPermissionDeniedError",
    404: "langchain_openai.chat_models.base.OpenAIModelNotFoundError",
    422: "openai.UnprocessableEntityError",
}
ASK = {"messages": [{"role": "user", "content": stage.TASK}]}
LIMIT = {"recursion_limit": 100}


@wrap_tool_call
def failures_are_told(request, handler):
    """Without it a tool that fails ends the run."""
    try:
        return handler(request)
    except RuntimeError as error:
        return ToolMessage(content=f"Error: {error}", tool_call_id=request.tool_call["id"], status="error")


def made(agent, middleware=(), checkpointer=None, **more):
    recipe = stage.recipe("LangChain and LangGraph", agent, tools=stage.TOOLS)
    model = recipe["model"].model_copy(update=more)
    return recipe["create_agent"](
        model, stage.TOOLS, middleware=[failures_are_told, *middleware], checkpointer=checkpointer
    )


def chat(agent):
    return made(agent).invoke(ASK, LIMIT)["messages"][-1].text


def streamed(agent):
    said = []
    for message, _ in made(agent).stream(ASK, LIMIT, stream_mode="messages"):
        if isinstance(message, AIMessageChunk) and message.text:
            said.append(message.text)
    return stage.joined(said)


def responses(agent):
    return made(agent, use_responses_api=True).invoke(ASK, LIMIT)["messages"][-1].text


def retried():
    """The middleware that retries takes the classes of LangChain's own for final, and 422 has none."""
    for status, requests in ((400, stage.STUCK), (403, stage.STUCK), (404, stage.STUCK), (422, stage.STUCK + 2)):
        agent = made(
            f"{status}.tool.stuck.langchain-retried",
            [ModelRetryMiddleware(max_retries=2, initial_delay=0, on_failure="error")],
        )
        before = stage.attempts()
        try:
            agent.invoke(ASK, LIMIT)
        except APIStatusError as error:
            stage.expect(error.status_code == status and stage.is_a_kill(error), repr(error))
        made_now = stage.attempts() - before
        stage.expect(made_now == requests, f"{status}: {made_now} requests, not {requests}")
    print("ok langchain: ModelRetryMiddleware")


def resumed():
    """The thread of a stopped agent goes on with a new word of its user."""
    agent = made("400.tool.stuck.langchain-resumed", checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}, **LIMIT}
    try:
        agent.invoke(ASK, thread)
    except APIStatusError as error:
        stage.expect(stage.is_a_kill(error), repr(error))
    said = agent.invoke({"messages": [{"role": "user", "content": stage.SUM_UP}]}, thread)["messages"][-1].text
    stage.expect(said == stage.DONE, said)
    print("ok langchain: resumed")


stage.play("langchain", "tool", chat, RAISES, named="[LangChain](#langchain-and-langgraph)")
stage.play("langchain-streamed", "tool", streamed, {400: RAISES[400]}, cut="openai.APIError")
stage.play("langchain-responses", "tool", responses, {400: RAISES[400]})
if not stage.CONTROL:
    retried()
    resumed()

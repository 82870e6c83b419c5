"""Agents on LangChain (create_agent, which runs on LangGraph): chat completions, streamed too, and responses."""

from langchain.agents.middleware import wrap_tool_call
from langchain.messages import AIMessageChunk, ToolMessage

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


def made(agent, **more):
    recipe = stage.recipe("LangChain and LangGraph", agent, tools=stage.TOOLS)
    model = recipe["model"].model_copy(update=more)
    return recipe["create_agent"](model, stage.TOOLS, middleware=[failures_are_told])


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


stage.play("langchain", "tool", chat, RAISES, named="[LangChain](#langchain-and-langgraph)")
stage.play("langchain-streamed", "tool", streamed, {403: RAISES[403]})
stage.play("langchain-responses", "tool", responses, {403: RAISES[403]})

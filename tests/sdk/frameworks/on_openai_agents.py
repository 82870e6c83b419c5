"""Agents on the OpenAI Agents SDK: responses and chat completions, each streamed too."""

from agents import OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled

import stage

RAISES = {
    400: "openai.BadRequestError",
    401: "openai.AuthenticationError",
    403: "openai.PermissionDeniedError",
    404: "openai.NotFoundError",
    422: "openai.UnprocessableEntityError",
}
# Else it sends what it does to OpenAI.
set_tracing_disabled(True)


def made(agent, chat):
    recipe = stage.recipe("OpenAI Agents SDK", agent, tools=[function_tool(tool) for tool in stage.TOOLS])
    if chat:
        recipe["agent"].model = OpenAIChatCompletionsModel("gpt-4o-mini", recipe["client"])
    return recipe["agent"], recipe["config"]


def plain(chat):
    async def go(agent):
        runner, config = made(agent, chat)
        return (await Runner.run(runner, stage.TASK, run_config=config, max_turns=50)).final_output

    return lambda agent: stage.LOOP.run(go(agent))


def streamed(chat):
    async def go(agent):
        runner, config = made(agent, chat)
        result = Runner.run_streamed(runner, stage.TASK, run_config=config, max_turns=50)
        said = []
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                said.append(event.data.delta)
        stage.expect(stage.joined(said) == result.final_output, said)
        return result.final_output

    return lambda agent: stage.LOOP.run(go(agent))


stage.play("openai-agents", "tool", plain(chat=False), RAISES, named="[OpenAI Agents SDK](#openai-agents-sdk)")
stage.play("openai-agents-streamed", "tool", streamed(chat=False), {400: RAISES[400]}, cut="openai.APIError")
stage.play("openai-agents-chat", "tool", plain(chat=True), {400: RAISES[400]})
stage.play("openai-agents-chat-streamed", "tool", streamed(chat=True), {400: RAISES[400]}, cut="openai.APIError")

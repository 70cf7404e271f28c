/** Stands in for the message classes of `@langchain/core`, which this page does not use; see `build.mjs`. */
class Plain {
  constructor(fields: object) {
    Object.assign(this, fields);
  }
}

export {
  Plain as AIMessage,
  Plain as AIMessageChunk,
  Plain as BaseMessageChunk,
  Plain as HumanMessage,
  Plain as HumanMessageChunk,
  Plain as RemoveMessage,
  Plain as SystemMessage,
  Plain as SystemMessageChunk,
  Plain as ToolMessage,
  Plain as ToolMessageChunk,
};

export function coerceMessageLikeToMessage(message: object): object {
  return message;
}

export function convertToChunk(message: object): object {
  return message;
}

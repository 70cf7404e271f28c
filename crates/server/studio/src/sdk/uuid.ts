/** Stands in for `@langchain/core/utils/uuid`; see `build.mjs`. */
export function v7(): string {
  return crypto.randomUUID();
}

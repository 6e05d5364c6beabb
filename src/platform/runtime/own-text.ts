/**
 * The same well-formed text, alone in memory: one that was cut from a larger text keeps all of that as long as it
 * lives. For what is read from messages and stays longer than they do.
 */
export const ownText = (text: string): string => Buffer.from(text).toString()

export { createInterfaceClient } from './client.ts'
export { interfaceSettings } from './config.ts'
export { InterfaceError, StreamGoneError, TooManyStreamsError } from './errors.ts'
export { costOf, type Line, lineOf, lines } from './pacing.ts'
export { requestMessagesMax } from './send.ts'
export type {
  InterfaceClient,
  InterfaceProblem,
  SendOptions,
  SendOutcome,
  Unreachable,
} from './types.ts'

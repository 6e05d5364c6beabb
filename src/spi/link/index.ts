export { createInterfaceClient } from './client.ts'
export { interfaceSettings } from './config.ts'
export { InterfaceError, StreamGoneError, TooManyStreamsError } from './errors.ts'
export { requestMessagesMax } from './send.ts'
export type {
  InterfaceClient,
  InterfaceProblem,
  SendOptions,
  SendOutcome,
} from './types.ts'

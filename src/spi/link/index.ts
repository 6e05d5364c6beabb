export { createInterfaceClient, type InterfaceDeps } from './client.ts'
export { type InterfaceSettings, interfaceSettings } from './config.ts'
export { InterfaceError, StreamGoneError, TooManyStreamsError } from './errors.ts'
export { requestMessagesMax } from './send.ts'
export type {
  InterfaceClient,
  InterfaceProblem,
  PulledMessage,
  PullStream,
  SendOptions,
  SendOutcome,
} from './types.ts'

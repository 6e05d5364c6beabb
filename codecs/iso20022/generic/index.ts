export {
  type FromJson,
  type GenericMessage,
  type GenericProblem,
  messageFromJson,
  messageToJson,
  type ToJson,
} from './generic.ts'

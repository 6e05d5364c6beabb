export { brokerProblems, brokerSettings } from './config.ts'
export { deadLetterHeaders, deadLetterOf, letterBytesMax, unreadableAnswer } from './dead-letter.ts'
export { createDeadLetters } from './dead-letter-routes.ts'
export {
  BrokerUnavailableError,
  DeliveryLostError,
  PoisonMessageError,
  PublishRefusedError,
} from './errors.ts'
export { createBrokerFeature } from './feature.ts'
export { createKafkaBroker, type KafkaBrokerDeps } from './kafka/index.ts'
export { type OpenedBroker, openBroker } from './open.ts'
export { withOutbox } from './outbox.ts'
export { outboxTopic } from './outbox-message.ts'
export {
  type DeadLetterBox,
  type KeptLetter,
  type LetterSubjects,
  type ListedLetter,
  openDeadLetters,
} from './postgresql/dead-letters.ts'
export {
  createPostgresBroker,
  type TransactionalBroker,
} from './postgresql/index.ts'
export { tracedBroker, traceHeader } from './traced.ts'
export {
  type Broker,
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type OutgoingMessage,
  type RetryPolicy,
  readers,
  topics,
  valueBytesMax,
} from './types.ts'

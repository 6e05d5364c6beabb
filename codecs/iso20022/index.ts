export { amountDigitsMax, formatCents, parseCents } from './amount.ts'
export {
  type Build,
  type BuildableMessage,
  type BuildContext,
  type BuildProblem,
  type BuiltMessage,
  type ByteRange,
  buildableMessages,
  buildableVersions,
  buildMessage,
  buildProblemsMax,
  chargesMax,
  createRandomText,
  isBuildableMessage,
  notificationsMax,
  priorityTransactionsMax,
  type RandomSource,
  type RandomText,
  returnsMax,
  scheduledTransactionsMax,
  statusesMax,
  statusReasonsMax,
} from './builders/index.ts'
export {
  type Certainty,
  compileForSpi,
  isMessageType,
  isRevision,
  knownVersions,
  type MessageType,
  messageTypes,
  ourCatalogue,
  type Revision,
  revisions,
  revisionsOf,
  type SchemaCatalogue,
  schemaText,
  type VersionEntry,
  versionOf,
} from './catalogue/index.ts'
export {
  type CodeCertainty,
  type CodeEntry,
  type CodeList,
  codesOf,
  type RaisedBy,
} from './codes/entry.ts'
export { codeLists } from './codes/lists.ts'
export { returnReason, returnReasons, statusReason, statusReasons } from './codes/reasons.ts'
export {
  type BusinessHeader,
  identityOfNamespace,
  isDefinitionOf,
  type MessageIdentity,
  messageDefinitionIdOf,
  namespaceOf,
  spiIspb,
} from './envelope.ts'
export {
  type FromJson,
  type GenericMessage,
  type GenericProblem,
  messageFromJson,
  messageToJson,
  type ToJson,
} from './generic/index.ts'
export type { Pacs002, PaymentStatus, StatusReason } from './messages/pacs002.ts'
export type { Pacs004, PaymentReturn } from './messages/pacs004.ts'
export type {
  Account,
  CreditTransfer,
  Pacs008,
  Party,
  PaymentNodes,
  Remittance,
  Tax,
} from './messages/pacs008.ts'
export { findMetadata, type MessageMetadata } from './metadata.ts'
export {
  identifyMessage,
  isPaymentMessageType,
  type MessageReading,
  type PaymentMessage,
  type PaymentMessageType,
  type PaymentsReading,
  paymentsOf,
  readMessage,
  readWithPayments,
  type TypedMessage,
  type TypedMessages,
} from './read.ts'
export { type Money, type ReadProblem, readProblemsMax } from './reader.ts'
export { createMessageScanner } from './scanner.ts'
export {
  type CompiledSchema,
  PatternError,
  PatternMatcher,
  parsePattern,
  parseSchema,
  patternPlacesMax,
  SchemaError,
  type SchemaSource,
  type SchemaViolation,
  type Verdict,
  type ViolationRule,
  validateDocument,
  violationsMax,
} from './schema/index.ts'
export { messageVocabulary } from './vocabulary.ts'

export { formatCents, parseCents } from './amount.ts'
export {
  type Build,
  type BuildableMessage,
  type BuildContext,
  type BuildProblem,
  type BuiltMessage,
  buildableMessages,
  buildableVersions,
  buildMandateMessage,
  buildMessage,
  buildProblemsMax,
  buildReportRequest,
  createRandomText,
  isBuildableMessage,
  type MandateMessage,
  newEndToEndId,
} from './building/index.ts'
export {
  compileForSpi,
  knownVersions,
  nearestSchema,
  ourCatalogue,
  revisionsOf,
  type SchemaCatalogue,
  schemaText,
  versionOf,
} from './catalogue/catalogue.ts'
export { type Revision, revisions } from './catalogue/revisions.ts'
export { type CodeEntry, type CodeList, codesOf } from './codes/entry.ts'
export { codeLists } from './codes/lists.ts'
export {
  identityOfNamespace,
  isDefinitionOf,
  type MessageIdentity,
  messageDefinitionIdOf,
  namespaceOf,
  spiIspb,
} from './envelope.ts'
export { type GenericProblem, messageFromJson, messageToJson } from './generic.ts'
export { notificationsMax } from './messages/camt.054/build.ts'
export type { Check, MessageDefinition, StatusCheck } from './messages/definition.ts'
export {
  definitionOf,
  isMessageType,
  type MessageType,
  messageDefinitions,
  messageTypes,
} from './messages/index.ts'
export { statusesMax, statusReasonsMax } from './messages/pacs.002/build.ts'
export type { Pacs002 } from './messages/pacs.002/index.ts'
export { returnsMax } from './messages/pacs.004/build.ts'
export type { Pacs004, PaymentReturn } from './messages/pacs.004/index.ts'
export { priorityTransactionsMax, scheduledTransactionsMax } from './messages/pacs.008/build.ts'
export type { Account, CreditTransfer, Pacs008 } from './messages/pacs.008/read.ts'
export { chargesMax } from './messages/pain.013/build.ts'
export { findMetadata, type MessageMetadata } from './metadata.ts'
export type { Projected } from './projecting/projection.ts'
export {
  breachesOf,
  createProjector,
  identifyMessage,
  isPaymentMessageType,
  type MessageReading,
  type PaymentMessage,
  type PaymentMessageType,
  readMessage,
  salvageMessage,
  type TypedMessage,
  type TypedMessages,
} from './read.ts'
export { type Money, pathOf as elementPath, type ReadProblem, readProblemsMax } from './reader.ts'
export { createMessageScanner, type MessageScanner } from './scanner.ts'
export {
  type CompiledSchema,
  createSchemaValidator,
  PatternError,
  PatternMatcher,
  parsePattern,
  parseSchema,
  patternPlacesMax,
  SchemaError,
  type SchemaViolation,
  type Verdict,
  validateDocument,
  violationsMax,
} from './schema/index.ts'
export { messageVocabulary, nameIdOf } from './vocabulary.ts'

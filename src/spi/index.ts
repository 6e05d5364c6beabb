export { createCatalogue } from './api/catalogue/index.ts'
export { bindAddress, grpcProblems, grpcSettings } from './api/grpc/config.ts'
export { createGrpc } from './api/grpc/index.ts'
export { iso20022Inspector } from './api/inspect/index.ts'
export { createSchemas, schemaSettings } from './api/schemas/index.ts'
export { createTransform } from './api/transform/index.ts'
export { spiSettings } from './config.ts'
export { createPull, pullSettings } from './in/pull/index.ts'
export {
  createWorker,
  type Receivables,
  type Recurrences,
  workerSettings,
} from './in/worker/index.ts'
export {
  createInterfaceClient,
  type InterfaceClient,
  interfaceSettings,
} from './link/index.ts'
export {
  createRsfn,
  type OpenedMessage,
  type RsfnParty,
  rsfnInspector,
  rsfnMissing,
  rsfnProblems,
  rsfnServiceOf,
  rsfnSpecialUses,
  rsfnTypes,
} from './link/rsfn/index.ts'
export { createMessages, createOpenMessages } from './messages/index.ts'
export { createResend } from './out/resend/index.ts'
export { createResolve } from './out/resolve/index.ts'
export { createSend } from './out/send/index.ts'
export { createDocumentSigner } from './out/signing/document-signer.ts'
export {
  createTrust,
  signingMaterial,
  signingProblems,
  signingSettings,
} from './out/signing/index.ts'
export {
  createLetterSubjects,
  createOutbound,
  createRefusals,
  type OutboundFeature,
  outboundSettings,
  waitingAway,
} from './out/stage/index.ts'
export { createPayments, createRefunds, type PayeePorts } from './payments/index.ts'
export { createRecurring, rebuildRecurring } from './recurring/index.ts'
export { createRecurringSender } from './recurring/outgoing.ts'
export {
  type BookDifference,
  type BookFigures,
  createReports,
  dayForm,
  isAhead,
  reconcile,
} from './reports/index.ts'
export { spiProblems, spiStages } from './roles.ts'

export { createCatalogue } from './catalogue/index.ts'
export { type SpiRole, type SpiSettings, spiRoles, spiSettings } from './config.ts'
export { grpcProblems, grpcSettings } from './grpc/config.ts'
export { createGrpc } from './grpc/index.ts'
export { iso20022Inspector } from './inspect/index.ts'
export {
  createInterfaceClient,
  type InterfaceClient,
  interfaceSettings,
} from './interface/index.ts'
export { createMessages } from './messages/index.ts'
export {
  createOutbound,
  type OutboundFeature,
  type OutboundSettings,
  outboundSettings,
} from './outbound/index.ts'
export { createPull, type PullSettings, pullSettings } from './pull/index.ts'
export { spiProblems } from './roles.ts'
export { rsfnInspector } from './rsfn/index.ts'
export { createSchemas, type Schemas, schemaSettings } from './schemas/index.ts'
export { createSend } from './send/index.ts'
export { type SigningSettings, signingSettings } from './signing/index.ts'
export { createTransform } from './transform/index.ts'
export { createWorker, type WorkerSettings, workerSettings } from './worker/index.ts'

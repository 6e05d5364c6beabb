import type { Suite } from '../harness.ts'

/** The suites by name, in the order of running; loaded on demand, so that a contender loads its own suite only. */
export const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  xml: async () => (await import('./xml.ts')).xmlSuite,
  sets: async () => (await import('./sets.ts')).setsSuite,
  schema: async () => (await import('./schema.ts')).schemaSuite,
  xmldsig: async () => (await import('./xmldsig.ts')).xmldsigSuite,
  http: async () => (await import('./http.ts')).httpSuite,
  tracing: async () => (await import('./tracing.ts')).tracingSuite,
  grpc: async () => (await import('./grpc.ts')).grpcSuite,
  iso8583: async () => (await import('./iso8583.ts')).iso8583Suite,
  startup: async () => (await import('./startup.ts')).startupSuite,
  brcode: async () => (await import('./brcode.ts')).brCodeSuite,
  drex: async () => (await import('./drex.ts')).drexSuite,
  cards: async () => (await import('./cards.ts')).cardsSuite,
  inbound: async () => (await import('./inbound.ts')).inboundSuite,
  pull: async () => (await import('./pull.ts')).pullSuite,
  outbound: async () => (await import('./outbound.ts')).outboundSuite,
  webhooks: async () => (await import('./webhooks.ts')).webhooksSuite,
}

export type { AdviceRules } from './advice-rules.ts'
export {
  type AnswerRules,
  answerCodes1987,
  createAnswerRules,
  undecidedCodes,
} from './answers.ts'
export {
  definitionsOf,
  type NetworkDefinition,
  NetworksFileError,
  parseNetwork,
} from './definitions.ts'
export { createNetworkMetrics } from './metrics.ts'
export { createNetwork } from './network.ts'
export { type CardNetworks, createCardNetworks } from './networks.ts'
export type { NetworkOptions } from './options.ts'
export { createRouting } from './routing.ts'
export type { AdviceReply, ExchangeOutcome, LateAnswer, Network, TakeAdvice } from './types.ts'

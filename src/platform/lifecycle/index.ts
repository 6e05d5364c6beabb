export { askGateway, callGateway, curlOf, type Demo, type DemoGateway } from './demo.ts'
export {
  type BookLine,
  bookCountedMax,
  type Check,
  checkOf,
  type Feature,
  type WholeApi,
} from './feature.ts'
export { createGateway, type Gateway, type GatewayUrls } from './gateway.ts'
export { createHealthReporter } from './health.ts'
export {
  type ExplainedField,
  type Explanation,
  type InspectOptions,
  type Inspector,
  inspectorNames,
  recognise,
} from './inspector.ts'
export { createLifecycle } from './lifecycle.ts'
export { isProxied } from './proxied.ts'
export { checkReach } from './reach.ts'
export { meaningOfSignal, outliveHangUps, sameWishMs, untilSignal } from './signals.ts'
export { watchReach } from './watch-reach.ts'

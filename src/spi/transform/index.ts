import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Metrics } from '#src/platform/telemetry/index.ts'
import { transformDemo } from './demo.ts'
import { transformRoutes } from './routes.ts'

export type TransformDeps = { readonly metrics: Metrics }

/** ISO 20022 messages to their business views; stateless. */
export const createTransform = ({ metrics }: TransformDeps): Feature => ({
  name: 'transform',
  demo: transformDemo,
  routes: transformRoutes({
    transformations: metrics.counter(
      'spigw_transformations_total',
      'Transformations by source type, target format and outcome.',
      ['source_type', 'target_format', 'status'],
    ),
  }),
})

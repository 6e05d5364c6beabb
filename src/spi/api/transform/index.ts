import { ourCatalogue, type SchemaCatalogue } from '#codecs/iso20022'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { transformDemo } from './demo.ts'
import { transformRoutes } from './routes.ts'
import { createRunTransform, type RunTransform } from './run.ts'

export type TransformDeps = {
  readonly metrics: Metrics
  /** The schemas by which `options.validate` judges; ours when not given. */
  readonly catalogue?: SchemaCatalogue
}

export type Transform = Feature & {
  /** For the other interface to the same transformations. */
  readonly run: RunTransform
}

/** ISO 20022 messages to their business views; stateless. */
export const createTransform = ({
  metrics,
  catalogue = ourCatalogue,
}: TransformDeps): Transform => {
  const run = createRunTransform(catalogue, metrics)
  return { name: 'transform', demo: transformDemo, routes: transformRoutes(run), run }
}

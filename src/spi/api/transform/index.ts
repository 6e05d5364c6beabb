import {
  createMessageScanner,
  type MessageScanner,
  ourCatalogue,
  type SchemaCatalogue,
} from '#codecs/iso20022'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { createLargeDocuments, type LargeDocuments, largeBytesMin } from '../large/index.ts'
import { transformDemo } from './demo.ts'
import { transformRoutes } from './routes.ts'
import { createRunTransform, type RunTransform } from './run.ts'
import { createTransformer } from './service.ts'

export type TransformDeps = {
  readonly metrics: Metrics
  /** The schemas for `options.validate`; ours when absent. */
  readonly catalogue?: SchemaCatalogue
  readonly scanner?: MessageScanner
  /** Reads by the same schemas what is too large for the event loop. */
  readonly large?: Pick<LargeDocuments, 'transform' | 'transformBody'>
}

export type Transform = Feature & {
  /** Lets the other interface offer the same transformations. */
  readonly run: RunTransform
}

/** Turns ISO 20022 messages into their business views; stateless. */
export const createTransform = ({
  metrics,
  catalogue = ourCatalogue,
  scanner = createMessageScanner(nativeText),
  large = createLargeDocuments({ files: undefined, learning: true }),
}: TransformDeps): Transform => {
  const transform = createTransformer(catalogue, scanner)
  const run = createRunTransform(
    (request) =>
      request.message.length < largeBytesMin ? transform(request) : large.transform(request),
    metrics,
  )
  const routes = transformRoutes(run, large.transformBody)
  return { name: 'transform', demo: transformDemo, routes, run }
}

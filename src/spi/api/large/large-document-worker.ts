import { createMessageScanner } from '#codecs/iso20022'
import { nativeText, serveThread } from '#src/platform/runtime/index.ts'
import { catalogueOf, type SchemaFiles } from '../schemas/load.ts'
import { type Validation, validateMessage } from '../schemas/service.ts'
import {
  createTransformer,
  type TransformOutcome,
  type TransformRequest,
} from '../transform/service.ts'

/** What the thread needs to judge as the process does. */
export type LargeSetup = { readonly files: SchemaFiles | undefined; readonly learning: boolean }

export type LargeRequest =
  | { readonly transform: TransformRequest }
  | { readonly validate: Uint8Array }

export type LargeAnswer = TransformOutcome | Validation

// The entry of a separate thread: one document of some megabytes takes hundreds of milliseconds.
serveThread(({ files, learning }: LargeSetup) => {
  const catalogue = catalogueOf(files)
  const scanner = createMessageScanner(nativeText, { learning })
  const transform = createTransformer(catalogue, scanner)
  return (request: LargeRequest): LargeAnswer =>
    'transform' in request
      ? transform(request.transform)
      : validateMessage(catalogue, scanner, request.validate)
})

import { createMessageScanner } from '#codecs/iso20022'
import { nativeText, serveThread } from '#src/platform/runtime/index.ts'
import { type ReportedFile, readReported } from '../../reports/file.ts'
import { catalogueOf, type SchemaFiles } from '../schemas/load.ts'
import { type Validation, validateMessage } from '../schemas/service.ts'
import {
  createTransformer,
  type TransformOutcome,
  type TransformRequest,
} from '../transform/service.ts'
import { type JsonBody, type ReadBody, readBody } from './json-body.ts'

/** What the thread needs to judge as the process does. */
export type LargeSetup = { readonly files: SchemaFiles | undefined; readonly learning: boolean }

export type LargeRequest =
  | { readonly transform: TransformRequest }
  | { readonly validate: Uint8Array }
  | { readonly reported: Uint8Array }
  | { readonly json: JsonBody }

export type LargeAnswer = TransformOutcome | Validation | ReportedFile | ReadBody

// The entry of a separate thread: one document of some megabytes takes hundreds of milliseconds.
serveThread(({ files, learning }: LargeSetup) => {
  const catalogue = catalogueOf(files)
  const scanner = createMessageScanner(nativeText, { learning })
  const transform = createTransformer(catalogue, scanner)
  return (request: LargeRequest): LargeAnswer => {
    if ('transform' in request) return transform(request.transform)
    if ('json' in request) return readBody(request.json)
    return 'validate' in request
      ? validateMessage(catalogue, scanner, request.validate)
      : readReported(scanner, request.reported)
  }
})

import type { TransformationStatus } from '../transform/metrics.ts'
import type { TransformOptions, TransformRequest } from '../transform/service.ts'
import {
  readBoolean,
  readBytes,
  readFields,
  readText,
  wireTypes,
  writeFields,
  writeTextsAndNumber,
} from './wire.ts'

/*
 * The messages of proto/spigw/v1/transformation.proto. Reading follows proto3: the last value of a
 * field counts, a repeated message is merged, a field of another wire type than declared is unknown.
 */

const empty = new Uint8Array()

/** A request; an empty format means that the message decides. Throws a WireError. */
export const readTransformRequest = (bytes: Uint8Array): TransformRequest => {
  let sourceFormat = ''
  let targetFormat = ''
  let message: Uint8Array = empty
  const options = { validate: false, enrich: false }
  readFields(bytes, (number, type, reader) => {
    if (type !== wireTypes.bytes) return false
    switch (number) {
      case 1:
        sourceFormat = readText(reader)
        return true
      case 2:
        targetFormat = readText(reader)
        return true
      case 3:
        message = readBytes(reader)
        return true
      case 4:
        readOptions(readBytes(reader), options)
        return true
      default:
        return false
    }
  })
  return {
    sourceFormat: sourceFormat === '' ? undefined : sourceFormat,
    targetFormat: targetFormat === '' ? undefined : targetFormat,
    message,
    options,
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const readOptions = (bytes: Uint8Array, options: Mutable<TransformOptions>): void => {
  readFields(bytes, (number, type, reader) => {
    if (type !== wireTypes.varint) return false
    if (number === 1) options.validate = readBoolean(reader)
    else if (number === 2) options.enrich = readBoolean(reader)
    else return false
    return true
  })
}

/** The enumeration of the same name. */
const statusNumbers: Readonly<Record<TransformationStatus, number>> = {
  success: 0,
  validation_error: 1,
  parse_error: 2,
  unsupported_format: 3,
}

export type TransformResponse = {
  /** Empty if there is no result. */
  readonly transformationId: string
  /** JSON. */
  readonly result: string
  readonly status: TransformationStatus
}

export const writeTransformResponse = ({
  transformationId,
  result,
  status,
}: TransformResponse): Buffer =>
  writeTextsAndNumber(transformationId, result, statusNumbers[status])

export const writeListTransformationsResponse = (
  pairs: readonly { readonly source_format: string; readonly target_format: string }[],
): Buffer =>
  writeFields(
    pairs.map((pair) => ({
      number: 1,
      message: writeFields([
        { number: 1, text: pair.source_format },
        { number: 2, text: pair.target_format },
      ]),
    })),
  )

/** Reads a message whose fields we do not need: checks only its form. */
export const readNothing = (bytes: Uint8Array): object => {
  readFields(bytes, () => false)
  return {}
}

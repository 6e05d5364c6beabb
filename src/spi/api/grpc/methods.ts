import {
  status as codes,
  type Metadata,
  type MethodDefinition,
  type StatusObject,
} from '@grpc/grpc-js'
import { ApiError, detailOf, httpErrors } from '#src/platform/http/index.ts'
import { languageOfCall } from './metadata.ts'
import { WireError } from './wire.ts'

/** A request, or the reason why we cannot read its bytes. */
export type Incoming<T> = T | WireError

/**
 * A method that reads and writes its messages so. Bytes that are not a request still reach the handler, which
 * knows what that means for its call; the library would end the call.
 *
 * @param streams what it has many of: neither, or answers, or both
 */
export const serverMethod = <T, R>(
  path: string,
  read: (bytes: Uint8Array) => T,
  write: (response: R) => Buffer,
  streams: 'neither' | 'answers' | 'both' = 'neither',
): MethodDefinition<Incoming<T>, R> => ({
  path,
  requestStream: streams === 'both',
  responseStream: streams !== 'neither',
  requestDeserialize: (bytes) => {
    try {
      return read(bytes)
    } catch (error) {
      if (error instanceof WireError) return error
      throw error
    }
  },
  responseSerialize: write,
  // The client's half, which we never use: this side only answers.
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes) => bytes as R,
})

/** Why bytes are not a request, as HTTP would tell it. */
export const unreadable = ({ message }: WireError): ApiError =>
  new ApiError(httpErrors.bad_request, `The request ${message}.`)

/** The error that ends a call when its bytes are not a request. */
export const malformed = (error: WireError, metadata: Metadata): Partial<StatusObject> => ({
  code: codes.INVALID_ARGUMENT,
  details: detailOf(unreadable(error), languageOfCall(metadata)),
})

import { status as codes, type StatusObject } from '@grpc/grpc-js'
import { WireError } from './wire.ts'

/** A request, or why its bytes are none. */
export type Incoming<T> = T | WireError

type ServerMethod<T, R> = {
  readonly requestDeserialize: (bytes: Buffer) => Incoming<T>
  readonly responseSerialize: (response: R) => Buffer
  readonly requestSerialize: () => Buffer
  readonly responseDeserialize: (bytes: Buffer) => Buffer
}

/**
 * How a method's messages are read and written. Bytes that are no request reach the handler, which
 * knows what that means for its call; the library would end the call.
 */
export const serverMethod = <T, R>(
  read: (bytes: Uint8Array) => T,
  write: (response: R) => Buffer,
): ServerMethod<T, R> => ({
  requestDeserialize: (bytes) => {
    try {
      return read(bytes)
    } catch (error) {
      if (error instanceof WireError) return error
      throw error
    }
  },
  responseSerialize: write,
  // The client's half, which is never used: this side only answers.
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes) => bytes,
})

/** How a call ends whose request is none. */
export const malformed = ({ message }: WireError): Partial<StatusObject> => ({
  code: codes.INVALID_ARGUMENT,
  details: `The request ${message}.`,
})

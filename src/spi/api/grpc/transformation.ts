import {
  status as codes,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type Metadata,
  type ServiceDefinition,
  type StatusObject,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { ApiError, detailOf, httpErrors, problemBody } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { supportedTransformations } from '../transform/formats.ts'
import type { RunTransform, TransformRun } from '../transform/run.ts'
import type { TransformRequest } from '../transform/service.ts'
import { requestIdKey } from './calls.ts'
import {
  readNothing,
  readTransformRequest,
  type TransformResponse,
  writeListTransformationsResponse,
  writeTransformResponse,
} from './messages.ts'
import { languageOfCall, onlyText } from './metadata.ts'
import { type Incoming, malformed, serverMethod, unreadable } from './methods.ts'
import { WireError } from './wire.ts'

export const transformationService = 'spigw.v1.TransformationService'

const pathOf = (method: string): string => `/${transformationService}/${method}`
const [read, write] = [readTransformRequest, writeTransformResponse]

/** proto/spigw/v1/transformation.proto. */
export const transformationDefinition: ServiceDefinition = {
  Transform: serverMethod(pathOf('Transform'), read, write),
  TransformStream: serverMethod(pathOf('TransformStream'), read, write, 'both'),
  ListTransformations: serverMethod(
    pathOf('ListTransformations'),
    readNothing,
    (bytes: Buffer) => bytes,
  ),
}

/** One answer of both calls: at once, or by a promise where the message is large. */
const answer = (
  run: RunTransform,
  request: TransformRequest,
  metadata: Metadata,
): TransformResponse | Promise<TransformResponse> => {
  // The answer has no place for violations beside the result.
  const outcome = run(request, 'refused')
  return outcome instanceof Promise
    ? outcome.then((late) => responseOf(late, metadata))
    : responseOf(outcome, metadata)
}

/** If the outcome is not a success, the answer says why, as HTTP would. */
const responseOf = (outcome: TransformRun, metadata: Metadata): TransformResponse => {
  if (!outcome.ok) return refusal(outcome.error, outcome.status, metadata)
  const { transformationId, result } = outcome
  return { transformationId, result, status: 'success' }
}

const refusal = (
  error: ApiError,
  status: TransformResponse['status'],
  metadata: Metadata,
): TransformResponse => ({
  transformationId: '',
  result: JSON.stringify(problemBody(error, requestIdOfCall(metadata), languageOfCall(metadata))),
  status,
})

const requestIdOfCall = (metadata: Metadata): string => onlyText(metadata, requestIdKey) ?? ''

/** What we tell a caller about an exception; no detail of an unexpected one leaves the process. */
const internal = (logger: Logger, metadata: Metadata, err: unknown): Partial<StatusObject> => {
  const language = languageOfCall(metadata)
  if (err instanceof ApiError && err.definition.retryable) {
    return { code: codes.UNAVAILABLE, details: detailOf(err, language) }
  }
  logger.error({ request_id: requestIdOfCall(metadata), err }, 'request failed')
  const unexpected = new ApiError(httpErrors.internal, 'The gateway failed to handle the request.')
  return { code: codes.INTERNAL, details: detailOf(unexpected, language) }
}

export const transformationHandlers = (
  run: RunTransform,
  logger: Logger,
): UntypedServiceImplementation => {
  const transform: handleUnaryCall<Incoming<TransformRequest>, TransformResponse> = (
    call,
    reply,
  ) => {
    const { request, metadata } = call
    if (request instanceof WireError) return reply(malformed(request, metadata))
    const fail = (err: unknown) => reply(internal(logger, metadata, err))
    try {
      const response = answer(run, request, metadata)
      if (response instanceof Promise) response.then((late) => reply(null, late), fail)
      else reply(null, response)
    } catch (err) {
      fail(err)
    }
  }

  const transformStream: handleBidiStreamingCall<Incoming<TransformRequest>, TransformResponse> = (
    call,
  ) => {
    const { metadata } = call
    const fail = (err: unknown) => call.emit('error', internal(logger, metadata, err))
    const write = (response: TransformResponse): void => {
      if (call.write(response)) return
      // The client does not take its results: we take no more of its requests until it does.
      call.pause()
      call.once('drain', () => call.resume())
    }
    /** The answer to a large message, on which those behind it wait: answers come in the order of the requests. */
    let late: Promise<void> | undefined
    const wait = async (response: Promise<TransformResponse>): Promise<void> => {
      call.pause()
      try {
        const written = await response
        call.resume()
        write(written)
      } catch (err) {
        fail(err)
      }
    }
    call.on('data', (request: Incoming<TransformRequest>) => {
      try {
        const response =
          request instanceof WireError
            ? refusal(unreadable(request), 'parse_error', metadata)
            : answer(run, request, metadata)
        if (response instanceof Promise) late = wait(response)
        else write(response)
      } catch (err) {
        fail(err)
      }
    })
    call.on('end', async () => {
      // The last request may be answered after its stream has ended.
      await late
      // On Bun a stream that the client resets ends too; one turn later we know that it is cancelled.
      setImmediate(() => call.end())
    })
  }

  const pairs = writeListTransformationsResponse(supportedTransformations)
  const listTransformations: handleUnaryCall<object, Buffer> = (call, reply) => {
    const { request, metadata } = call
    if (request instanceof WireError) reply(malformed(request, metadata))
    else reply(null, pairs)
  }

  return {
    Transform: transform,
    TransformStream: transformStream,
    ListTransformations: listTransformations,
  }
}

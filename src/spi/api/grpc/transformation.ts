import {
  status as codes,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type Metadata,
  type ServiceDefinition,
  type StatusObject,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { ApiError, httpErrors, problemBody } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { supportedTransformations } from '../transform/formats.ts'
import { broken, type RunTransform } from '../transform/run.ts'
import type { TransformRequest } from '../transform/service.ts'
import { requestIdKey } from './calls.ts'
import {
  readNothing,
  readTransformRequest,
  type TransformResponse,
  writeListTransformationsResponse,
  writeTransformResponse,
} from './messages.ts'
import { onlyText } from './metadata.ts'
import { type Incoming, malformed, serverMethod } from './methods.ts'
import { WireError } from './wire.ts'

export const transformationService = 'spigw.v1.TransformationService'

const transformMethod = serverMethod(readTransformRequest, writeTransformResponse)

/** proto/spigw/v1/transformation.proto. */
export const transformationDefinition: ServiceDefinition = {
  Transform: {
    ...transformMethod,
    path: `/${transformationService}/Transform`,
    requestStream: false,
    responseStream: false,
  },
  TransformStream: {
    ...transformMethod,
    path: `/${transformationService}/TransformStream`,
    requestStream: true,
    responseStream: true,
  },
  ListTransformations: {
    ...serverMethod(readNothing, (bytes: Buffer) => bytes),
    path: `/${transformationService}/ListTransformations`,
    requestStream: false,
    responseStream: false,
  },
}

const unreadable = ({ message }: WireError): ApiError =>
  new ApiError(httpErrors.bad_request, `The request ${message}.`)

/** One answer of both calls. If the outcome is not a success, it says why, as HTTP would. */
const answer = (
  run: RunTransform,
  request: TransformRequest,
  metadata: Metadata,
): TransformResponse => {
  const outcome = run(request)
  if (!outcome.ok) return refusal(outcome.error, outcome.status, metadata)
  const { transformationId, result, violations } = outcome
  // The answer has no place for them beside the result.
  if (violations.length > 0) {
    const { error, status } = broken(violations)
    return refusal(error, status, metadata)
  }
  return { transformationId, result, status: 'success' }
}

const refusal = (
  error: ApiError,
  status: TransformResponse['status'],
  metadata: Metadata,
): TransformResponse => ({
  transformationId: '',
  result: JSON.stringify(problemBody(error, requestIdOfCall(metadata))),
  status,
})

const requestIdOfCall = (metadata: Metadata): string => onlyText(metadata, requestIdKey) ?? ''

/** What we tell a caller about an unexpected exception: no detail leaves the process. */
const internal = (logger: Logger, metadata: Metadata, err: unknown): Partial<StatusObject> => {
  logger.error({ request_id: requestIdOfCall(metadata), err }, 'request failed')
  return { code: codes.INTERNAL, details: 'The gateway failed to handle the request.' }
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
    if (request instanceof WireError) return reply(malformed(request))
    try {
      return reply(null, answer(run, request, metadata))
    } catch (err) {
      return reply(internal(logger, metadata, err))
    }
  }

  const transformStream: handleBidiStreamingCall<Incoming<TransformRequest>, TransformResponse> = (
    call,
  ) => {
    const { metadata } = call
    call.on('data', (request: Incoming<TransformRequest>) => {
      try {
        const response =
          request instanceof WireError
            ? refusal(unreadable(request), 'parse_error', metadata)
            : answer(run, request, metadata)
        if (call.write(response)) return
        // The client does not take its results: we take no more of its requests until it does.
        call.pause()
        call.once('drain', () => call.resume())
      } catch (err) {
        call.emit('error', internal(logger, metadata, err))
      }
    })
    // On Bun a stream that the client resets ends too; one turn later we know that it is cancelled.
    call.on('end', () => setImmediate(() => call.end()))
  }

  const pairs = writeListTransformationsResponse(supportedTransformations)
  const listTransformations: handleUnaryCall<object, Buffer> = (call, reply) => {
    const { request } = call
    if (request instanceof WireError) reply(malformed(request))
    else reply(null, pairs)
  }

  return {
    Transform: transform,
    TransformStream: transformStream,
    ListTransformations: listTransformations,
  }
}

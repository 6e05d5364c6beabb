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
import type { Logger } from '#src/platform/telemetry/index.ts'
import { supportedTransformations } from '../transform/formats.ts'
import type { RunTransform } from '../transform/run.ts'
import type { TransformRequest } from '../transform/service.ts'
import { requestIdKey } from './calls.ts'
import {
  readNothing,
  readTransformRequest,
  type TransformResponse,
  writeListTransformationsResponse,
  writeTransformResponse,
} from './messages.ts'
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

/** One answer of both calls. An outcome that is no success tells why, as HTTP would. */
const answer = (
  run: RunTransform,
  request: TransformRequest,
  requestId: string,
): TransformResponse => {
  const outcome = run(request)
  return outcome.ok
    ? {
        transformationId: outcome.transformationId,
        result: outcome.result,
        status: 'success',
      }
    : refusal(outcome.error, outcome.status, requestId)
}

const refusal = (
  error: ApiError,
  status: TransformResponse['status'],
  requestId: string,
): TransformResponse => ({
  transformationId: '',
  result: JSON.stringify(problemBody(error, requestId)),
  status,
})

const requestIdOfCall = (metadata: Metadata): string => String(metadata.get(requestIdKey)[0] ?? '')

/** What a caller is told of an unexpected exception: nothing of it leaves the process. */
const internal = (logger: Logger, requestId: string, err: unknown): Partial<StatusObject> => {
  logger.error({ request_id: requestId, err }, 'request failed')
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
    const { request } = call
    if (request instanceof WireError) return reply(malformed(request))
    const requestId = requestIdOfCall(call.metadata)
    try {
      return reply(null, answer(run, request, requestId))
    } catch (err) {
      return reply(internal(logger, requestId, err))
    }
  }

  const transformStream: handleBidiStreamingCall<Incoming<TransformRequest>, TransformResponse> = (
    call,
  ) => {
    const requestId = requestIdOfCall(call.metadata)
    call.on('data', (request: Incoming<TransformRequest>) => {
      try {
        const response =
          request instanceof WireError
            ? refusal(unreadable(request), 'parse_error', requestId)
            : answer(run, request, requestId)
        if (call.write(response)) return
        // The client does not take its results: take no more requests of it.
        call.pause()
        call.once('drain', () => call.resume())
      } catch (err) {
        call.emit('error', internal(logger, requestId, err))
      }
    })
    // A stream that the client resets ends, too, on Bun; a turn later it is known to be cancelled.
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

import type { PlatformSettings } from '#src/platform/config/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { checkReach } from '#src/platform/lifecycle/reach.ts'
import { usedFiles } from '#src/platform/security/certificate.ts'
import type { KeyMaterial } from '#src/platform/security/key-material.ts'
import type { Logger } from '../logger.ts'
import type { Tracing } from './start.ts'

/**
 * Exports traces if `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector. First to start, so last to stop.
 *
 * @param material - the collector's authorities; the public ones when undefined
 */
export const createTracing = (
  settings: PlatformSettings,
  material: KeyMaterial | undefined,
  logger: Logger,
): Feature => {
  const { otlpEndpoint: endpoint, serviceName, serviceVersion } = settings
  const { otlpHeaders: headers, resourceAttributes } = settings
  const name = 'tracing'
  if (endpoint === undefined) return { name }
  let tracing: Tracing | undefined
  return {
    name,
    certificates: usedFiles('trace_collector', material),
    start: async () => {
      material?.watch()
      // We load it here because the exporter brings HTTP/2 along, which a start without tracing need not pay for.
      const { startTracing } = await import('./start.ts')
      const samplingRatio = settings.samplingRatio
      tracing = startTracing({
        endpoint,
        headers,
        ca: () => material?.current().ca,
        serviceName,
        serviceVersion,
        resourceAttributes,
        samplingRatio,
        onProblem: (reason, spans) =>
          logger.warn({ reason, spans }, 'spans were lost: the collector did not take them'),
      })
    },
    stop: async () => {
      material?.stop()
      await tracing?.stop()
    },
    checks: async () => [
      await checkReach(
        'Trace collector',
        endpoint,
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        material?.current(),
      ),
    ],
  }
}

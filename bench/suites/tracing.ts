import { createMetrics, currentTraceparent, inSpan, openSpan } from '#src/platform/observe/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { apiKeyFile } from '../../test/support/api-key.ts'
import { pacs008 } from '../../test/support/messages.ts'
import { type Figure, type Group, type Mode, median, type Suite } from '../harness.ts'
import { startServer } from '../server-process.ts'
import { transformContenders } from './http.ts'

const traced = 'every request traced and exported'
const untraced = 'no collector'

const groups = async (): Promise<readonly Group[]> => {
  const { file: keyFile, key } = await apiKeyFile('spi:transform')
  const collector = await startServer('collector.ts')
  const running = {
    [traced]: await startServer('trilho.ts', keyFile, collector.url),
    [untraced]: await startServer('trilho.ts', keyFile),
  }
  const path = '/v1/transform/pacs008'
  return [
    {
      name: 'POST /v1/transform/pacs008',
      contenders: transformContenders(path, 'application/xml', pacs008(), running, key),
      // Tracing may cost less than 15 % of the throughput.
      goals: [{ ours: traced, peer: untraced, atLeast: 0.85 }],
      sameWork: Object.keys(running),
    },
  ]
}

/** The transformation of one message never has more spans. */
const spansPerRequest = 4

/** The work of a request for its spans without a collector. */
const spanNothing = (): number => {
  let count = 0
  for (let index = 0; index < spansPerRequest / 2; index++) {
    inSpan('a', { kind: 'client', attributes: { 'server.port': index } }, () => count++)
    openSpan('b', { kind: 'server' }).within(() => currentTraceparent() ?? count++)
  }
  return count
}

const cpuUsOf = (work: () => unknown, roundMs: number): number => {
  const endMs = performance.now() + roundMs
  const before = process.cpuUsage()
  let times = 0
  for (; performance.now() < endMs; times += 100) for (let once = 0; once < 100; once++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

const figures = async ({ rounds, roundMs }: Mode): Promise<readonly Figure[]> => {
  const { run } = createTransform({
    metrics: createMetrics({ version: 'bench', withProcess: false }),
  })
  const request = {
    sourceFormat: 'pacs.008',
    targetFormat: undefined,
    message: Buffer.from(pacs008()),
    options: { validate: false, enrich: false },
  }
  const shares: number[] = []
  for (let round = 0; round < rounds; round++) {
    const transformUs = cpuUsOf(() => run(request, 'shown'), roundMs)
    shares.push(cpuUsOf(spanNothing, roundMs) / transformUs)
  }
  const name = `${spansPerRequest} spans without a collector, as a share of one transformation`
  return [{ name, value: median(shares), unit: '×', atMost: 0.01 }]
}

/** CPU time per transformation with and without tracing, the export to a collector included. */
export const tracingSuite: Suite = { name: 'tracing', groups, figures }

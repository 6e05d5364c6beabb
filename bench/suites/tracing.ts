import { pacs008 } from '../../test/support/messages.ts'
import type { Group, Suite } from '../harness.ts'
import { startServer } from '../server-process.ts'
import { transformContenders, transformKey } from './http.ts'

const traced = 'every request traced and exported'
const untraced = 'no collector'

const groups = async (): Promise<readonly Group[]> => {
  const { key, keyFile } = await transformKey()
  const collector = await startServer('collector.ts')
  const running = {
    [traced]: await startServer('trilho.ts', keyFile, collector.url),
    [untraced]: await startServer('trilho.ts', keyFile),
  }
  const path = '/v1/transform/pacs008'
  return [
    {
      name: 'POST /v1/transform/pacs008',
      contenders: await transformContenders(path, 'application/xml', pacs008(), running, key),
      // Less than 15 % of the throughput.
      goals: [{ ours: traced, peer: untraced, atLeast: 0.85 }],
      sameWork: Object.keys(running),
    },
  ]
}

/** CPU time per transformation with and without tracing, the export to a collector included. */
export const tracingSuite: Suite = { name: 'tracing', groups }

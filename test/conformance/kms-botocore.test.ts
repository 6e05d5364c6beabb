import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createAwsKms } from '../../src/drex/custody/aws-kms.ts'
import { createExchange } from '../../src/drex/custody/exchange.ts'
import { fakeAwsKms, fakeKey } from '../drex/custody/fake-services.ts'
import { runTool } from '../support/second-implementation.ts'

const missing = runTool(['python3', '-c', 'import botocore']).exitCode !== 0
const note = missing ? ' [skipped: no botocore for python3]' : ''
const script = join(import.meta.dir, 'python/kms_peer.py')
const region = 'sa-east-1'

const verdicts = (requests: readonly object[], credentials: object): readonly string[] => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['python3', script], {
    stdin: Buffer.from(JSON.stringify({ ...credentials, region, requests })),
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString())
}

test.skipIf(missing)(
  `botocore signs what we send with the same signature, and knows every parameter${note}`,
  async () => {
    const kms = fakeAwsKms(new Map([['ana', fakeKey(1)]]))
    for (const sessionToken of [undefined, 'token/with+signs==']) {
      const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 's/ecret+', sessionToken }
      const service = createAwsKms({
        exchange: createExchange(5_000),
        url: kms.url,
        region,
        credentials: async () => credentials,
      })
      const { name } = await service.find('alias/ana')
      await service.sign(name, new Uint8Array(32).fill(0xfe))
      await service.probe()
      const requests = kms.asked.splice(0)
      expect(verdicts(requests, credentials)).toEqual(['ok', 'ok', 'ok'])
      const altered = requests.map((each) => ({ ...each, body: `${each.body} ` }))
      expect(verdicts(altered, credentials)).toEqual(requests.map(() => 'another signature'))
    }
    kms.stop()
  },
)

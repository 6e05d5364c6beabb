import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { dialects } from '#codecs/iso8583'
import { root } from '../../support/program.ts'

test('packing allocates nothing: the collector has nothing to do in a million messages of each dialect', () => {
  const probe = Bun.spawnSync([process.execPath, join(root, 'test/support/allocation-probe.ts')], {
    // The runner forbids the last optimising to what lives for seconds; here it pays for itself.
    env: { ...process.env, BUN_JSC_useFTLJIT: '1' },
  })
  expect(probe.stderr.toString()).toBe('')
  const ofThatYear = Object.keys(dialects).filter((name) => dialects[name]?.version === '1987')
  expect(ofThatYear.length).toBeGreaterThan(1)
  expect(JSON.parse(probe.stdout.toString())).toEqual({
    // One small object for each message is seen.
    control: true,
    ...Object.fromEntries(ofThatYear.map((name) => [name, false])),
  })
}, 60_000)

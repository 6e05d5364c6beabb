import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonOnce, RepeatedMemberError } from '#src/platform/http/index.ts'
import { readMerchants } from '../../../src/cards/merchants.ts'
import { readNetworksFile } from '../../../src/drex/networks.ts'
import { readKeyFile } from '../../../src/platform/security/keys/key-file.ts'
import { jsonIn } from '../../../src/simulators/counterparty.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('a member that is named twice is told by its place, whatever numbers stand before it', () => {
  const numbers = '"n":[0.12345678901234567890,1e999]'
  for (const [text, pointer] of [
    [`{${numbers},"a":1,"a":1}`, '/a'],
    [`{"x":[{},{${numbers},"a/b":1,"a\\u002fb":2}]}`, '/x/1/a~1b'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
  ] as const) {
    expect(() => jsonOnce(text)).toThrow(new RepeatedMemberError({ ...repeated, pointer }))
  }
  expect(jsonOnce('{"a":{"a":1},"b":[{"a":1},{"a":2}]}')).toEqual({
    a: { a: 1 },
    b: [{ a: 1 }, { a: 2 }],
  })
})

const repeated = { rule: 'unique', message: 'is given more than once' }

test('files and controls that name a member twice are refused, though both say the same', async () => {
  const path = join(temporaryDirectory(), 'file.json')
  const twice = '{"keys":[],"keys":[]}'
  writeFileSync(path, twice)
  await expect(readKeyFile(path)).rejects.toThrow('/keys is given more than once')
  expect(() => readNetworksFile('{"a":1,"a":1}')).toThrow('/a is given more than once')
  writeFileSync(path, '[{"merchant_id":"1","merchant_id":"1"}]')
  expect(() => readMerchants(path)).toThrow('/0/merchant_id is given more than once')
  expect(jsonIn(Buffer.from(twice))).toBeUndefined()
})

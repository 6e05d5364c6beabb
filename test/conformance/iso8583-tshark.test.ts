import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPacker, dialects, framings, headerBytes, writeFrame } from '#codecs/iso8583'
import { createRandom } from '../support/mutations.ts'

/*
 * Our messages as Wireshark's dissector reads them. It knows ASCII well; left out are fields that it reads by
 * other rules than the standard's: 35, 36, 50 to 53, 55, 64, 96 and signed amounts, and blanks in 37 to 39.
 */

const tshark = Bun.which('tshark')
const text2pcap = Bun.which('text2pcap')
const isInstalled = tshark !== null && text2pcap !== null
const reason = isInstalled ? '' : ' [skipped: tshark is not installed]'

const messages = 60
const fields = [
  2, 3, 4, 7, 11, 12, 13, 14, 18, 22, 25, 32, 37, 39, 41, 42, 43, 44, 48, 49, 54, 60, 63, 70, 90,
] as const

const folder = mkdtempSync(join(tmpdir(), 'trilho-tshark-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (program: string, args: readonly string[]): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args])
  if (exitCode !== 0) throw new Error(`${program}: ${stderr.toString()}`)
  return stdout.toString()
}

const ascii = dialects['ascii']
const random = createRandom(8583)
const below = (limit: number): number => random.next(limit)

const someValue = (de: number): string => {
  const spec = ascii?.fields[de]
  if (spec === undefined) throw new Error(`no field ${de}`)
  const length = spec.prefixDigits === 0 ? spec.max : 1 + below(Math.min(spec.max, 60))
  const letters = spec.type === 'n' ? '0123456789' : '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  return Array.from({ length }, () => letters.charAt(below(letters.length))).join('')
}

describe.skipIf(!isInstalled)(`ISO 8583 as tshark reads it${reason}`, () => {
  for (const [name, binencode, leftOut] of [
    ['ascii', 'bin', messages / 10],
    ['ascii-hex', 'ascii', 0],
  ] as const) {
    test(`${name}: the same message type and the same fields`, () => {
      const dialect = dialects[name]
      if (dialect === undefined) throw new Error(`no dialect ${name}`)
      const packer = createPacker(dialect)
      const wanted: string[] = []
      const frames = Array.from({ length: messages }, (_, index) => {
        const mti = ['0100', '0110', '0200', '0400', '0800'][index % 5] ?? ''
        const chosen = fields.filter((de) => de === 11 || de === 43 || below(3) > 0)
        const values = Object.fromEntries(chosen.map((de) => [de, someValue(de)]))
        wanted.push([mti, ...fields.map((de) => values[de] ?? '')].join('|'))
        const out = new Uint8Array(4096)
        const start = headerBytes(framings['binary-2'])
        const end = packer.pack(mti, values, out, start)
        writeFrame(framings['binary-2'], end - start, out)
        return out.subarray(0, end)
      })
      const dump = join(folder, `${name}.txt`)
      const capture = join(folder, `${name}.pcap`)
      writeFileSync(
        dump,
        frames
          .map((frame) => `000000 ${Buffer.from(frame).toString('hex').replace(/../g, '$& ')}\n`)
          .join(''),
      )
      run(text2pcap ?? '', ['-q', '-T', '40000,8583', dump, capture])
      const read = run(tshark ?? '', [
        '-r',
        capture,
        '-d',
        'tcp.port==8583,iso8583',
        ...['-o', 'iso8583.len_endian:bigendian', '-o', 'iso8583.charset:ascii'],
        ...['-o', `iso8583.binencode:${binencode}`, '-T', 'fields', '-E', 'separator=|'],
        '-e',
        'iso8583.mti',
        ...fields.flatMap((de) => ['-e', `iso8583.bit${de}`]),
      ])
      const rows = read.trimEnd().split('\n')
      expect(rows).toHaveLength(messages)
      // Some messages with a bitmap in bytes it takes for no ISO 8583 at all.
      const left = rows.map((row, index) => (/^\|+$/.test(row) ? wanted[index] : row))
      expect(left).toEqual(wanted)
      expect(rows.filter((row) => /^\|+$/.test(row)).length).toBeLessThanOrEqual(leftOut)
    })
  }
})

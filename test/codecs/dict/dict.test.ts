import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import { cidOf, createVsync, type DirectoryEntry, emptyVsync, type HmacSha256 } from '#codecs/dict'

const hmac: HmacSha256 = (key, message) =>
  new Uint8Array(createHmac('sha256', key).update(message).digest())

/** The two vectors that the directory's description prints. */
const entry: DirectoryEntry = {
  keyType: 'PHONE',
  key: '+5511987654321',
  owner: { taxIdNumber: '11122233300', name: 'João Silva' },
  account: {
    participant: '12345678',
    branch: '00001',
    accountNumber: '0007654321',
    accountType: 'CACC',
  },
}
const requestId = Uint8Array.from({ length: 16 }, (_, i) => i + 1)
const cids = [
  '28c06eb41c4dc9c3ae114831efcac7446c8747777fca8b145ecd31ff8480ae88',
  '4d4abb9168114e349672b934d16ed201a919cb49e28b7f66a240e62c92ee007f',
  'fce514f84f37934bc8aa0f861e4f7392273d71b9d18e8209d21e4192a7842058',
] as const
const vsync = '996fc1dd3b6b14bcf0c9fe8320eb66d7e2a3fd874ccf767b2e939641b1ea8eaf'

const codeOf = (act: () => unknown): string => {
  try {
    act()
    return 'none'
  } catch (error) {
    if (error instanceof CodecError) return error.code
    throw error
  }
}

describe('content identifier', () => {
  test('is the one of the description', () => {
    expect(cidOf(entry, requestId, hmac)).toBe(cids[0])
  })

  test('changes with every attribute and with the request', () => {
    const { owner, account } = entry
    const others: readonly DirectoryEntry[] = [
      { ...entry, keyType: 'EVP' },
      { ...entry, key: '+5511987654322' },
      { ...entry, owner: { ...owner, taxIdNumber: '11122233301' } },
      // The same name, decomposed: other bytes, so another content.
      { ...entry, owner: { ...owner, name: owner.name.normalize('NFD') } },
      { ...entry, owner: { ...owner, tradeName: 'JS' } },
      { ...entry, account: { ...account, participant: '12345679' } },
      { ...entry, account: { ...account, branch: undefined } },
      { ...entry, account: { ...account, accountNumber: '7654321' } },
      { ...entry, account: { ...account, accountType: 'TRAN' } },
    ]
    const seen = new Set([entry, ...others].map((one) => cidOf(one, requestId, hmac)))
    seen.add(cidOf(entry, requestId.toReversed(), hmac))
    expect(seen.size).toBe(others.length + 2)
  })

  test('refuses another length of RequestId, half a character, another hash', () => {
    expect(codeOf(() => cidOf(entry, requestId.subarray(1), hmac))).toBe('cid_request_id')
    expect(codeOf(() => cidOf(entry, new Uint8Array(17), hmac))).toBe('cid_request_id')
    const half = { ...entry, owner: { ...entry.owner, name: 'a\ud83d' } }
    expect(codeOf(() => cidOf(half, requestId, hmac))).toBe('cid_text')
    expect(codeOf(() => cidOf(entry, requestId, () => new Uint8Array(31)))).toBe('cid_hmac')
  })
})

describe('check of a set', () => {
  test('is the one of the description, in any order, and goes on from where it was kept', () => {
    const check = createVsync()
    for (const cid of cids.toReversed()) check.toggle(cid)
    expect(check.hex()).toBe(vsync)
    check.toggle(cids[1])
    const resumed = createVsync(check.hex())
    resumed.toggle(cids[1])
    expect(resumed.hex()).toBe(vsync)
  })

  test('of ten thousand entries is empty again when all are out, and tells of one that differs', () => {
    const all = Array.from({ length: 10_000 }, (_, i) =>
      cidOf({ ...entry, key: `+55119${String(i).padStart(8, '0')}` }, requestId, hmac),
    )
    const ours = createVsync()
    const theirs = createVsync()
    expect(ours.hex()).toBe(emptyVsync)
    for (const cid of all) ours.toggle(cid)
    for (const cid of all.toReversed()) theirs.toggle(cid)
    expect(theirs.hex()).toBe(ours.hex())
    theirs.toggle(all[4_711]!)
    expect(theirs.hex()).not.toBe(ours.hex())
    for (const cid of all) ours.toggle(cid)
    expect(ours.hex()).toBe(emptyVsync)
  })

  test('is the XOR, computed another way, of any identifiers', () => {
    const some = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), (list) => {
        const check = createVsync()
        for (const bytes of list) check.toggle(bytes.toHex())
        const sum = list.reduce((all, bytes) => all ^ BigInt(`0x${bytes.toHex()}`), 0n)
        expect(check.hex()).toBe(sum.toString(16).padStart(64, '0'))
      }),
      { numRuns: 100 },
    )
  })

  test('refuses what is no identifier, and stays as it was', () => {
    const check = createVsync()
    check.toggle(cids[0])
    const bad = ['', cids[0].slice(1), `${cids[0]}0`, cids[0].toUpperCase(), `${cids[0]}\n`]
    for (const cid of bad) expect(codeOf(() => check.toggle(cid))).toBe('vsync_cid')
    expect(codeOf(() => createVsync('00'))).toBe('vsync_cid')
    expect(check.hex()).toBe(cids[0])
  })
})

/** What the directory is asked for a comparison, and how its answers are read. */
import { expect, test } from 'bun:test'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { createReconciliationCalls } from '../../src/dict/comparisons/calls.ts'
import type { Lane } from '../../src/dict/wire.ts'

const ispb = '12345678'

test.each([
  ['REQUESTED', undefined],
  ['PROCESSING', undefined],
  ['UNAVAILABLE', 'throws'],
  ['ERROR', 'throws'],
])('of a file that is %s it is told: %s', async (status, expected) => {
  const xml = `<R><CidSetFile><Id>1</Id><Status>${status}</Status></CidSetFile></R>`
  const see = async (_: string, __: unknown, read: (document: XmlDocument) => unknown) =>
    read(createXmlScanner().scan(Buffer.from(xml)))
  const calls = createReconciliationCalls({ see } as unknown as Lane, ispb)
  const file = calls.findFile(1)
  if (expected === 'throws') await expect(file).rejects.toThrow(status)
  else expect(await file).toEqual({ kind: 'file', id: 1, content: undefined })
})

test('as many events are asked for at once as the directory gives', async () => {
  const paths: string[] = []
  const see = async (_: string, { path }: { path: string }) => void paths.push(path)
  const calls = createReconciliationCalls({ see } as unknown as Lane, ispb)
  await calls.events('EMAIL', '2026-01-01T00:00:00Z')
  expect(new URLSearchParams(paths[0]?.split('?')[1]).get('Limit')).toBe('200')
})

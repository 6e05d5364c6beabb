import { expect, test } from 'bun:test'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LineWriter } from '#src/platform/observe/index.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('lines of one turn are written after it, in order', async () => {
  const path = join(temporaryDirectory(), 'log')
  const descriptor = openSync(path, 'w')
  const writer = new LineWriter(descriptor)
  writer.write('one\n')
  writer.write('dois: \u00e7\n')
  expect(readFileSync(path, 'utf8')).toBe('')
  await new Promise((resolve) => setImmediate(resolve))
  expect(readFileSync(path, 'utf8')).toBe('one\ndois: \u00e7\n')
  writer.write('three\n')
  writer.flushSync()
  expect(readFileSync(path, 'utf8')).toEndWith('three\n')
  closeSync(descriptor)
})

test('a reader that is gone ends no process', () => {
  const script = `
    import { LineWriter } from '#src/platform/observe/index.ts'
    const writer = new LineWriter(1)
    process.on('SIGPIPE', () => {})
    for (let i = 0; i < 50; i++) { writer.write('x'.repeat(10_000) + '\\n'); await Bun.sleep(1) }
    writer.flushSync()
    console.error('alive')`
  const { stderr } = Bun.spawnSync(
    ['sh', '-c', '"$0" -e "$1" | head -c 1 > /dev/null', process.execPath, script],
    {
      cwd: join(import.meta.dir, '../../..'),
    },
  )
  expect(stderr.toString()).toContain('alive')
})

test('a reader that is slow costs lines, not memory without bound, and is told', async () => {
  const script = `
    import { LineWriter } from '#src/platform/observe/index.ts'
    const writer = new LineWriter(1)
    const line = 'x'.repeat(1_000_000) + '\\n'
    for (let i = 0; i < 20; i++) writer.write(line)
    await Bun.stdin.text()
    writer.write('last\\n')
    writer.flushSync()`
  const child = Bun.spawn([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../../..'),
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const told = /"msg":"log lines dropped","count":1[0-9]\}/
  let out = ''
  let [isTold, length] = [false, 0]
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    length += chunk.length
    // Only the end is of interest: what came before is a million times the same.
    out = out.slice(-1_000) + decoder.decode(chunk, { stream: true })
    if (isTold || !told.test(out)) continue
    // The next line comes when there is room for it again.
    isTold = true
    child.stdin.end()
  }
  expect(isTold).toBe(true)
  expect(out).toEndWith('last\n')
  expect(length).toBeLessThan(12_000_000)
})

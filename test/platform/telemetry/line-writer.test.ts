import { expect, test } from 'bun:test'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LineWriter } from '#src/platform/telemetry/index.ts'
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
    import { LineWriter } from '#src/platform/telemetry/index.ts'
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
    import { LineWriter } from '#src/platform/telemetry/index.ts'
    const writer = new LineWriter(1)
    const line = 'x'.repeat(1_000_000) + '\\n'
    for (let i = 0; i < 20; i++) writer.write(line)
    await Bun.sleep(50)
    writer.write('last\\n')
    writer.flushSync()`
  const child = Bun.spawn([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../../..'),
    stdout: 'pipe',
  })
  const out = await new Response(child.stdout).text()
  expect(out).toMatch(/"msg":"log lines dropped","count":1[0-9]\}/)
  expect(out).toContain('last\n')
  expect(out.length).toBeLessThan(12_000_000)
})

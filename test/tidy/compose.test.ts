/** What compose.yaml says is tied to the program and to the files beside it; docker judges its form, where present. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processRoles } from '../../src/platform/config/platform-settings.ts'
import { commandHere } from '../support/command-here.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const folder = join(root, 'deploy/compose')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

type Service = {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
}
const { services, volumes } = Bun.YAML.parse(read('deploy/compose/compose.yaml')) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const all = Object.entries(services)
const gateways = all.filter(([, { command }]) => command?.[0] === 'serve')

describe('the composition', () => {
  test('has a process for each role', () => {
    const roles = gateways.map(([, { environment }]) => environment?.['TRILHO_ROLES'])
    expect(roles.join().split(',').sort()).toEqual([...processRoles].sort())
  })

  test('gives each process settings that it takes', async () => {
    const directory = temporaryDirectory()
    writeFileSync(
      join(directory, 'master-key'),
      new Bun.SHA256().update('of a test').digest('base64'),
    )
    const ours = [...gateways, ...all.filter(([name]) => name === 'prepare')]
    const documented = read('docs/settings.md')
    for (const [name, { environment = {} }] of ours) {
      const env = Object.fromEntries(
        Object.entries(environment).map(([setting, value]) => {
          expect(documented).toContain(`\`${setting}\``)
          return [setting, value.replace('/var/lib/trilho', directory)]
        }),
      )
      const { out } = await commandHere(['config', '--json'], env)
      const { problems, warnings } = JSON.parse(out) as Record<string, readonly string[]>
      // On purpose: nobody is asked whether to take a payment.
      const rest = warnings?.filter((warning) => !warning.includes('SPI_AUTO_ACCEPT'))
      expect({ name, problems, rest }).toEqual({ name, problems: [], rest: [] })
    }
  })

  test('names services, volumes and files that are there', () => {
    const wrong = all.flatMap(([name, service]) => [
      ...Object.keys(service.depends_on ?? {}).filter((other) => services[other] === undefined),
      ...(service.volumes ?? [])
        .map((volume) => volume.split(':')[0] ?? '')
        .filter((from) =>
          from.startsWith('.') ? !existsSync(join(folder, from)) : !(from in volumes),
        )
        .map((from) => `${name}: ${from}`),
    ])
    expect(wrong).toEqual([])
    const addresses = Object.values(gateways[0]?.[1].environment ?? {})
      .join(' ')
      .matchAll(/(?:@|\/\/|^| )([a-z-]+):\d+/g)
    expect(
      [...addresses].map(([, host = '']) => host).filter((host) => !(host in services)),
    ).toEqual([])
  })

  test('runs our image without rights, names versions, and opens ports to this machine only', () => {
    for (const [name, { image, read_only, cap_drop, ports = [] }] of all) {
      expect(image, name).toMatch(/:v?\d+\.\d+/)
      expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
      if (image.startsWith('trilho:'))
        expect({ read_only, cap_drop }).toEqual({ read_only: true, cap_drop: ['ALL'] })
    }
  })

  test('is scraped and traced where the gateways are', () => {
    const { scrape_configs: scrapes } = Bun.YAML.parse(read('deploy/compose/prometheus.yaml')) as {
      readonly scrape_configs: readonly {
        readonly static_configs: readonly { readonly targets: string[] }[]
      }[]
    }
    const wanted = gateways.map(
      ([name, { environment }]) => name + environment?.['TRILHO_ADMIN_ADDR'],
    )
    expect(scrapes[0]?.static_configs[0]?.targets).toEqual(wanted)
    const { receivers } = Bun.YAML.parse(read('deploy/compose/collector.yaml')) as {
      readonly receivers: {
        readonly otlp: { readonly protocols: { readonly grpc: { readonly endpoint: string } } }
      }
    }
    const traces = gateways[0]?.[1].environment?.['OTEL_EXPORTER_OTLP_ENDPOINT']
    expect(traces).toEndWith(receivers.otlp.protocols.grpc.endpoint.replace('0.0.0.0', 'collector'))
  })
})

const run = (command: readonly string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: root })
  return { exitCode, text: `${stdout}${stderr}` }
}

const noPromtool = Bun.which('promtool') === null ? ' [skipped: no promtool]' : ''
test.skipIf(noPromtool !== '')(`promtool takes its Prometheus${noPromtool}`, () => {
  const file = join(temporaryDirectory(), 'prometheus.yaml')
  const rules = join(root, 'deploy/prometheus/alerts.yaml')
  const text = read('deploy/compose/prometheus.yaml').replace('/etc/prometheus/alerts.yaml', rules)
  writeFileSync(file, text)
  expect(run(['promtool', 'check', 'config', file])).toMatchObject({ exitCode: 0 })
})

const hasCompose =
  Bun.which('docker') !== null && run(['docker', 'compose', 'version']).exitCode === 0
const noCompose = hasCompose ? '' : ' [skipped: no docker compose]'
test.skipIf(!hasCompose)(`docker compose takes it${noCompose}`, () => {
  const command = ['docker', 'compose', '-f', 'deploy/compose/compose.yaml', 'config', '--quiet']
  expect(run(command)).toEqual({ exitCode: 0, text: '' })
})

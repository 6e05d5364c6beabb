import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { metricDefinitions } from '../../scripts/metric-definitions.ts'
import { processRoles } from '../../src/platform/config/platform-settings.ts'
import { commandHere } from '../support/command-here.ts'
import { root } from '../support/program.ts'
import { pythonTool } from '../support/python-tools.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* What deploy/kubernetes makes, by kustomize, and deploy/helm, by helm; and that the gateway takes it as its settings. */

type Container = {
  readonly image: string
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
}
type Pod = {
  readonly securityContext: { readonly runAsNonRoot: boolean }
  readonly terminationGracePeriodSeconds?: number
  readonly containers: readonly [Container]
}
type Manifest = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly selector?: { readonly matchLabels?: object }
    readonly scaleTargetRef?: { readonly name: string }
    readonly metrics?: readonly {
      readonly external?: { readonly metric: { readonly name: string } }
    }[]
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod }
  }
}

const outOf = (command: readonly string[]): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: root })
  if (exitCode !== 0) throw new Error(`${stdout}${stderr}`)
  return stdout.toString()
}

const apiVersion = '1.31.0'
const validator = pythonTool('kubernetes-validate')

/** Throws unless every manifest is of a type of the Kubernetes API, with no member that it does not know. */
const validate = (text: string): void => {
  if (validator === undefined) return
  const file = join(temporaryDirectory(), 'manifests.yaml')
  writeFileSync(file, text)
  outOf([validator, '--strict', '-k', apiVersion.slice(0, -2), file])
}

const manifestsOf = (command: readonly string[]): readonly Manifest[] => {
  const text = outOf(command)
  validate(text)
  return text
    .split(/^---$/m)
    .map((text) => Bun.YAML.parse(text) as Manifest | null)
    .filter((one) => one !== null)
}

/** gRPC leaves the machine only with a certificate, which these manifests have not. */
const wantedRoles = processRoles.filter((role) => role !== 'grpc').sort()

/** What is wrong with settings, as the gateway finds it. */
const problemsOf = async (settings: Readonly<Record<string, string>>): Promise<unknown> => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'database-dsn'), 'postgres://a:b@database.example/trilho')
  writeFileSync(
    join(directory, 'master-key'),
    new Bun.SHA256().update('of a test').digest('base64'),
  )
  const given = Object.entries(settings).map(([name, value]) => [
    name,
    value.replace('/run/trilho', directory),
  ])
  const { out } = await commandHere(['config', '--json'], Object.fromEntries(given))
  return (JSON.parse(out) as { readonly problems: unknown }).problems
}

const judge = async (all: readonly Manifest[]): Promise<void> => {
  const of = (kind: string) => all.filter((one) => one.kind === kind)
  const deployments = of('Deployment')
  const [settings] = of('ConfigMap')
  const jobs = of('Job').map(({ spec }) => spec.template.spec)
  const pods = deployments.map(({ spec }) => spec.template.spec)
  for (const { securityContext, containers } of [...pods, ...jobs]) {
    expect(securityContext.runAsNonRoot).toBe(true)
    expect(containers[0].securityContext.readOnlyRootFilesystem).toBe(true)
  }
  for (const { containers } of pods) {
    expect(containers[0].envFrom?.[0]?.configMapRef.name).toBe(settings!.metadata.name)
  }
  // A job that runs before there is a config map has the settings itself.
  for (const { containers } of jobs) {
    const own = containers[0].env?.map(({ name, value }) => [name, value])
    if (own !== undefined) expect(Object.fromEntries(own)).toEqual(settings!.data!)
    expect(containers[0].args).toEqual(['migrate'])
  }
  const names = deployments.map(({ metadata }) => metadata.name)
  const budgets = of('PodDisruptionBudget').map(({ spec }) => spec.selector?.matchLabels)
  expect(budgets).toEqual(deployments.map(({ spec }) => spec.template.metadata.labels))
  for (const { spec } of of('HorizontalPodAutoscaler')) {
    expect(names).toContain(spec.scaleTargetRef!.name)
  }
  const roles = pods.map(({ containers }) => containers[0].env![0]!.value)
  expect(roles.join().split(',').sort()).toEqual(wantedRoles)
  for (const role of roles) {
    expect(await problemsOf({ ...settings!.data, TRILHO_ROLES: role })).toEqual([])
  }
  const drain = Number(settings!.data!['TRILHO_DRAIN_SECONDS']) + 20
  for (const { terminationGracePeriodSeconds } of pods) {
    expect(terminationGracePeriodSeconds).toBeGreaterThan(drain)
  }
}

const missing = (tool: string): string => (Bun.which(tool) === null ? ` [skipped: no ${tool}]` : '')

const noValidator = validator === undefined ? ' [skipped: no kubernetes-validate]' : ''
test.skipIf(noValidator !== '')(
  `what kustomize reads is of the types of the Kubernetes API${noValidator}`,
  () => {
    const folder = join(root, 'deploy/kubernetes')
    const { resources } = Bun.YAML.parse(
      readFileSync(join(folder, 'kustomization.yaml'), 'utf8'),
    ) as {
      readonly resources: readonly string[]
    }
    const texts = resources.map((file) => readFileSync(join(folder, file), 'utf8'))
    const text = texts.join('\n---\n')
    validate(text)
    expect(() => validate(text.replace('containers:', 'container:'))).toThrow('container')
  },
)

const noKubectl = missing('kubectl')
test.skipIf(noKubectl !== '')(`kustomize builds what the gateway takes${noKubectl}`, async () => {
  await judge(manifestsOf(['kubectl', 'kustomize', 'deploy/kubernetes']))
})

const chart = 'deploy/helm/trilho'
const noHelm = missing('helm')
describe.skipIf(noHelm !== '')(`the chart${noHelm}`, () => {
  const render = (...more: readonly string[]) =>
    manifestsOf(['helm', 'template', 'here', chart, '--kube-version', apiVersion, ...more])

  test('is well-formed', () => {
    const { exitCode, stdout } = Bun.spawnSync(['helm', 'lint', '--strict', chart], { cwd: root })
    expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining('0 chart(s) failed')])
  })

  test('makes what the gateway takes', async () => {
    await judge(render())
  })

  test('scales by the age of queues where an adapter is said to be there', () => {
    const external = (all: readonly Manifest[]): readonly string[] =>
      all
        .flatMap(({ spec }) => spec?.metrics ?? [])
        .flatMap(({ external: one }) => one?.metric.name ?? [])
    expect(external(render())).toEqual([])
    const asked = external(render('--set', 'queueAge.enabled=true'))
    expect(asked).toEqual(['spigw_broker_queue_age_seconds'])
  })
})

/** What can be said without helm. */
test('the values of the chart are settings, and a deployment for each role', async () => {
  const text = readFileSync(join(root, chart, 'values.yaml'), 'utf8')
  const { settings, secret, processes, queueAge } = Bun.YAML.parse(text) as {
    readonly settings: Readonly<Record<string, string>>
    readonly secret: { readonly files: Readonly<Record<string, string>> }
    readonly processes: Readonly<Record<string, { readonly roles: readonly string[] }>>
    readonly queueAge: { readonly metric: string }
  }
  const documented = readFileSync(join(root, 'docs/settings.md'), 'utf8')
  for (const name of [...Object.keys(settings), ...Object.keys(secret.files)]) {
    expect(documented).toContain(`\`${name}\``)
  }
  const roles = Object.values(processes).map((process) => process.roles)
  expect(roles.flat().sort()).toEqual(wantedRoles)
  const files = Object.entries(secret.files).map(([name, file]) => [name, `/run/trilho/${file}`])
  for (const some of roles) {
    const given = { ...settings, ...Object.fromEntries(files), TRILHO_ROLES: some.join() }
    expect(await problemsOf(given)).toEqual([])
  }
  const known = (await metricDefinitions()).map(({ name }) => name)
  expect(known).toContain(queueAge.metric)
})

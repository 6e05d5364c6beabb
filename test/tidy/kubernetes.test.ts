import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processRoles } from '../../src/platform/config/platform-settings.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* What deploy/kubernetes makes, by kustomize; and that the gateway takes it as its settings. */

type Container = {
  readonly image: string
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[]
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
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod }
  }
}

const noTool = Bun.which('kubectl') === null ? ' [skipped: no kubectl]' : ''

const build = (): readonly Manifest[] => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    ['kubectl', 'kustomize', 'deploy/kubernetes'],
    {
      cwd: root,
    },
  )
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout
    .toString()
    .split(/^---$/m)
    .map((text) => Bun.YAML.parse(text) as Manifest)
}

test.skipIf(noTool !== '')(`kustomize builds what the gateway takes${noTool}`, () => {
  const all = build()
  const of = (kind: string) => all.filter((one) => one.kind === kind)
  const deployments = of('Deployment')
  const [settings] = of('ConfigMap')
  const pods = [...deployments, ...of('Job')].map(({ spec }) => spec.template.spec)
  for (const { securityContext, containers } of pods) {
    const [container] = containers
    expect(securityContext.runAsNonRoot).toBe(true)
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true)
    expect(container.envFrom[0]?.configMapRef.name).toBe(settings!.metadata.name)
  }
  const names = deployments.map(({ metadata }) => metadata.name)
  const budgets = of('PodDisruptionBudget').map(({ spec }) => spec.selector?.matchLabels)
  expect(budgets).toEqual(deployments.map(({ spec }) => spec.template.metadata.labels))
  for (const { spec } of of('HorizontalPodAutoscaler')) {
    expect(names).toContain(spec.scaleTargetRef!.name)
  }

  const roles = deployments.map(({ spec }) => spec.template.spec.containers[0].env![0]!.value)
  // gRPC leaves the machine only with a certificate, which these manifests have not.
  const wanted = processRoles.filter((role) => role !== 'grpc')
  expect(roles.join().split(',').sort()).toEqual([...wanted].sort())

  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'database-dsn'), 'postgres://a:b@database.example/trilho')
  writeFileSync(
    join(directory, 'master-key'),
    new Bun.SHA256().update('of a test').digest('base64'),
  )
  for (const role of roles) {
    const given = Object.entries({ ...settings!.data, TRILHO_ROLES: role }).map(([name, value]) => [
      name,
      value.replace('/run/trilho', directory),
    ])
    const { stdout } = Bun.spawnSync([process.execPath, 'src/main.ts', 'config', '--json'], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', ...Object.fromEntries(given) },
    })
    const { problems } = JSON.parse(stdout.toString()) as { readonly problems: readonly unknown[] }
    expect(problems).toEqual([])
  }
  const drain = Number(settings!.data!['TRILHO_DRAIN_SECONDS']) + 20
  for (const { spec } of deployments) {
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain)
  }
})

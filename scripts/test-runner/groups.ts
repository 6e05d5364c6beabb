import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Where tests start whole programs, wait, or take minutes: each file gets a process of its own. They begin early, the
 * slowest first, so that at the end only short work is left to share out.
 */
const slowPaths = [
  'test/e2e/dev',
  'test/security/schemathesis',
  'test/clients/generated',
  'test/faults/',
  'test/e2e/',
  'test/readme/',
  'test/drex/recovery',
]

const groupFilesMax = 12

/** Distributes test files over processes: a group runs in one process, and groups start in this order. */
export const groupsOf = (
  root: string,
  files: readonly string[],
): readonly (readonly string[])[] => {
  const usesKafka = (file: string): boolean =>
    file.includes('/kafka/') || readFileSync(join(root, file), 'utf8').includes('support/kafka.ts')
  // They share one Kafka, which takes seconds to start and memory to run; it is fetched once, too.
  const kafka = files.filter(usesKafka)
  const rest = new Set(files.filter((file) => !kafka.includes(file)))
  const slow = slowPaths.flatMap((path) => {
    const found = [...rest].filter((file) => file.startsWith(path))
    for (const file of found) rest.delete(file)
    return found.map((file) => [file])
  })
  return [kafka, ...slow, ...neighbours([...rest])].filter((group) => group.length > 0)
}

/** Neighbours import much of the same, which one process loads once. */
const neighbours = (files: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(files.length / groupFilesMax) }, (_, index) =>
    files.slice(index * groupFilesMax, (index + 1) * groupFilesMax),
  )

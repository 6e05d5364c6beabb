import type { CardSettings, NetworkSettings } from '../config.ts'
import { definitionOf, type NetworkDefinition } from './definition.ts'
import { NetworksFileError, readNetworksFile } from './file.ts'

/**
 * Every network that is configured: those of the settings, then those of the file.
 *
 * @throws NetworksFileError
 */
export const definitionsOf = (
  { networksFile }: Pick<CardSettings, 'networksFile'>,
  networkA: NetworkSettings,
  networkB: NetworkSettings,
): readonly NetworkDefinition[] => {
  const definitions = [
    definitionOf('neta', networkA),
    definitionOf('netb', networkB),
    ...(networksFile === undefined ? [] : readNetworksFile(networksFile)),
  ].filter((definition) => definition !== undefined)
  if (new Set(definitions.map(({ name }) => name)).size < definitions.length) {
    throw new NetworksFileError('two card networks have the same name')
  }
  return definitions
}

-- expand
DROP INDEX "drex_contracts_address";
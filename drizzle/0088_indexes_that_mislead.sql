-- contract
DROP INDEX "dict_disputes_listed";
DROP INDEX "dict_claims_listed";
DROP INDEX "dict_claims_of_status";
// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';
import {ERC20} from '@openzeppelin/contracts/token/ERC20/ERC20.sol';
import {Pausable} from '@openzeppelin/contracts/utils/Pausable.sol';
import {Documents} from './Documents.sol';

/// @title A fractional real-estate token: ERC-1400, which is ERC-20 + 1410 + 1594 + 1643 + 1644.
/// @notice The drafts contradict each other in three places. Here `canTransfer` returns
/// (code, application code), `getDocument` returns three values, and a document's event is
/// `DocumentUpdated`. The ERC-1820 registry is not used: permissioned networks lack it.
/// The allowlist binds the receiver on every path, and the sender on every path but the
/// controller's, whose purpose is to recover units from a holder who has lost the right to them.
contract RealEstate is ERC20, AccessControl, Pausable, Documents {
    bytes32 public constant ISSUER_ROLE = keccak256('ISSUER_ROLE');
    bytes32 public constant CONTROLLER_ROLE = keccak256('CONTROLLER_ROLE');
    bytes32 public constant COMPLIANCE_ROLE = keccak256('COMPLIANCE_ROLE');
    bytes32 public constant PAUSER_ROLE = keccak256('PAUSER_ROLE');
    bytes32 public constant DOCUMENT_ROLE = keccak256('DOCUMENT_ROLE');

    // Status codes of ERC-1400 (after ERC-1066).
    bytes1 private constant SUCCESS = 0x51;
    bytes1 private constant INSUFFICIENT_BALANCE = 0x52;
    bytes1 private constant INSUFFICIENT_ALLOWANCE = 0x53;
    bytes1 private constant HALTED = 0x54;
    bytes1 private constant LOCKED = 0x55;
    bytes1 private constant INVALID_SENDER = 0x56;
    bytes1 private constant INVALID_RECEIVER = 0x57;
    bytes1 private constant INVALID_OPERATOR = 0x58;

    // Application codes that say which rule stands behind 0x57.
    bytes32 private constant NONE = bytes32(0);
    bytes32 private constant NOT_ALLOWLISTED = 'not_allowlisted';
    bytes32 private constant HOLDERS_MAX = 'holders_max';
    bytes32 private constant HOLDING_MAX = 'holding_max';

    uint256 private constant BPS = 10_000;
    uint256 private constant DEFAULT_PARTITIONS_MAX = 16;

    struct Document {
        bytes32 name;
        string uri;
        bytes32 hash;
    }

    struct Terms {
        string name;
        string symbol;
        uint8 decimals;
        /// Units the property is divided into; issuance never goes beyond.
        uint256 totalUnits;
        /// Unix seconds; until then only issuance, redemption and the controller move units.
        uint64 lockUpUntil;
        /// Most holders at one time; zero for no limit.
        uint32 holdersMax;
        /// Largest holding in basis points of `totalUnits`; zero for no limit.
        uint16 holdingMaxBps;
        address owner;
        address[] controllers;
        bytes32[] defaultPartitions;
        Document[] documents;
    }

    uint8 private immutable _decimals;
    uint256 public immutable totalUnits;
    uint64 public immutable lockUpUntil;
    uint32 public immutable holdersMax;
    uint16 public immutable holdingMaxBps;

    bool public isIssuable = true;
    bool public isControllable = true;
    uint256 public holderCount;
    mapping(address account => bool) public allowlisted;

    bytes32[] private _defaultPartitions;
    mapping(address holder => bytes32[]) private _partitionsOf;
    mapping(address holder => mapping(bytes32 partition => uint256)) private _partitionSlot;
    mapping(address holder => mapping(bytes32 partition => uint256)) private _balances;
    mapping(bytes32 partition => uint256) public totalSupplyByPartition;
    mapping(address holder => mapping(address operator => bool)) private _operators;
    mapping(address holder => mapping(bytes32 partition => mapping(address operator => bool)))
        private _partitionOperators;

    event AllowlistUpdated(address indexed account, bool allowed);
    event IssuanceRenounced();
    event ControlRenounced();
    // ERC-1410 and ERC-1400
    event TransferByPartition(
        bytes32 indexed fromPartition,
        address operator,
        address indexed from,
        address indexed to,
        uint256 value,
        bytes data,
        bytes operatorData
    );
    event ChangedPartition(bytes32 indexed fromPartition, bytes32 indexed toPartition, uint256 value);
    event AuthorizedOperator(address indexed operator, address indexed tokenHolder);
    event RevokedOperator(address indexed operator, address indexed tokenHolder);
    event AuthorizedOperatorByPartition(
        bytes32 indexed partition,
        address indexed operator,
        address indexed tokenHolder
    );
    event RevokedOperatorByPartition(
        bytes32 indexed partition,
        address indexed operator,
        address indexed tokenHolder
    );
    event IssuedByPartition(
        bytes32 indexed partition,
        address indexed operator,
        address indexed to,
        uint256 value,
        bytes data,
        bytes operatorData
    );
    event RedeemedByPartition(
        bytes32 indexed partition,
        address indexed operator,
        address indexed from,
        uint256 value,
        bytes operatorData
    );
    // ERC-1594
    event Issued(address indexed operator, address indexed to, uint256 value, bytes data);
    event Redeemed(address indexed operator, address indexed from, uint256 value, bytes data);
    // ERC-1644
    event ControllerTransfer(
        address controller,
        address indexed from,
        address indexed to,
        uint256 value,
        bytes data,
        bytes operatorData
    );
    event ControllerRedemption(
        address controller,
        address indexed tokenHolder,
        uint256 value,
        bytes data,
        bytes operatorData
    );

    error InvalidTerms(string field);
    /// `code` is the ERC-1400 status code, `reason` the application code.
    error TransferRefused(bytes1 code, bytes32 reason);
    error NotIssuable();
    error NotControllable();
    error UnitsExceeded(uint256 supply, uint256 totalUnits);
    error SelfOperator();

    constructor(Terms memory terms) ERC20(terms.name, terms.symbol) {
        if (terms.owner == address(0)) revert InvalidTerms('owner');
        if (terms.totalUnits == 0) revert InvalidTerms('totalUnits');
        if (terms.holdingMaxBps > BPS) revert InvalidTerms('holdingMaxBps');
        uint256 partitions = terms.defaultPartitions.length;
        if (partitions == 0 || partitions > DEFAULT_PARTITIONS_MAX) {
            revert InvalidTerms('defaultPartitions');
        }
        for (uint256 i = 0; i < partitions; i++) {
            for (uint256 j = 0; j < i; j++) {
                if (terms.defaultPartitions[i] == terms.defaultPartitions[j]) {
                    revert InvalidTerms('defaultPartitions');
                }
            }
        }
        _decimals = terms.decimals;
        totalUnits = terms.totalUnits;
        lockUpUntil = terms.lockUpUntil;
        holdersMax = terms.holdersMax;
        holdingMaxBps = terms.holdingMaxBps;
        _defaultPartitions = terms.defaultPartitions;
        _grantRole(DEFAULT_ADMIN_ROLE, terms.owner);
        _grantRole(ISSUER_ROLE, terms.owner);
        _grantRole(COMPLIANCE_ROLE, terms.owner);
        _grantRole(PAUSER_ROLE, terms.owner);
        _grantRole(DOCUMENT_ROLE, terms.owner);
        for (uint256 i = 0; i < terms.controllers.length; i++) {
            _grantRole(CONTROLLER_ROLE, terms.controllers[i]);
        }
        _setAllowlisted(terms.owner, true);
        for (uint256 i = 0; i < terms.documents.length; i++) {
            Document memory document = terms.documents[i];
            _setDocument(document.name, document.uri, document.hash);
        }
    }

    // --- Administration ---------------------------------------------------------------------

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    /// @notice Smallest amount that can be moved.
    function granularity() external pure returns (uint256) {
        return 1;
    }

    function setAllowlisted(address account, bool allowed) external onlyRole(COMPLIANCE_ROLE) {
        _setAllowlisted(account, allowed);
    }

    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }

    /// @notice Ends issuance for ever.
    function renounceIssuance() external onlyRole(DEFAULT_ADMIN_ROLE) {
        isIssuable = false;
        emit IssuanceRenounced();
    }

    /// @notice Ends the controllers' powers for ever.
    function renounceControl() external onlyRole(DEFAULT_ADMIN_ROLE) {
        isControllable = false;
        emit ControlRenounced();
    }

    // --- ERC-20 -----------------------------------------------------------------------------

    function transfer(address to, uint256 value) public override returns (bool) {
        _transferDefault(_msgSender(), to, value, '');
        return true;
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        _spendAllowance(from, _msgSender(), value);
        _transferDefault(from, to, value, '');
        return true;
    }

    // --- ERC-1594 ---------------------------------------------------------------------------

    function transferWithData(address to, uint256 value, bytes calldata data) external {
        _transferDefault(_msgSender(), to, value, data);
    }

    function transferFromWithData(
        address from,
        address to,
        uint256 value,
        bytes calldata data
    ) external {
        _spendAllowance(from, _msgSender(), value);
        _transferDefault(from, to, value, data);
    }

    /// @notice Issues into the first default partition.
    function issue(address holder, uint256 value, bytes calldata data) external {
        _issue(_defaultPartitions[0], holder, value, data);
        emit Issued(_msgSender(), holder, value, data);
    }

    function redeem(uint256 value, bytes calldata data) external {
        _redeemDefault(_msgSender(), value, data);
    }

    function redeemFrom(address holder, uint256 value, bytes calldata data) external {
        _spendAllowance(holder, _msgSender(), value);
        _redeemDefault(holder, value, data);
    }

    function canTransfer(
        address to,
        uint256 value,
        bytes calldata
    ) external view returns (bytes1 code, bytes32 reason) {
        return _canTransferDefault(_msgSender(), to, value);
    }

    function canTransferFrom(
        address from,
        address to,
        uint256 value,
        bytes calldata
    ) external view returns (bytes1 code, bytes32 reason) {
        if (allowance(from, _msgSender()) < value) return (INSUFFICIENT_ALLOWANCE, NONE);
        return _canTransferDefault(from, to, value);
    }

    // --- ERC-1410 ---------------------------------------------------------------------------

    function balanceOfByPartition(bytes32 partition, address holder) public view returns (uint256) {
        return _balances[holder][partition];
    }

    function partitionsOf(address holder) external view returns (bytes32[] memory) {
        return _partitionsOf[holder];
    }

    function getDefaultPartitions() external view returns (bytes32[] memory) {
        return _defaultPartitions;
    }

    function transferByPartition(
        bytes32 partition,
        address to,
        uint256 value,
        bytes calldata data
    ) external returns (bytes32) {
        _transferPartition(partition, _msgSender(), to, value, data, '');
        return partition;
    }

    function operatorTransferByPartition(
        bytes32 partition,
        address from,
        address to,
        uint256 value,
        bytes calldata data,
        bytes calldata operatorData
    ) external returns (bytes32) {
        if (_actsForHolder(partition, _msgSender(), from)) {
            _transferPartition(partition, from, to, value, data, operatorData);
        } else {
            _requireController(INVALID_OPERATOR);
            _forcePartition(partition, from, to, value, data, operatorData);
            emit ControllerTransfer(_msgSender(), from, to, value, data, operatorData);
        }
        return partition;
    }

    /// @notice Whether the caller could move these units now. The third value is the partition
    /// that would receive them.
    function canTransferByPartition(
        address from,
        address to,
        bytes32 partition,
        uint256 value,
        bytes calldata
    ) external view returns (bytes1 code, bytes32 reason, bytes32 toPartition) {
        if (!_actsForHolder(partition, _msgSender(), from)) {
            return (INVALID_OPERATOR, NONE, partition);
        }
        if (_balances[from][partition] < value) return (INSUFFICIENT_BALANCE, NONE, partition);
        (code, reason) = _check(from, to, value);
        toPartition = partition;
    }

    function issueByPartition(
        bytes32 partition,
        address holder,
        uint256 value,
        bytes calldata data
    ) external {
        _issue(partition, holder, value, data);
    }

    function redeemByPartition(bytes32 partition, uint256 value, bytes calldata data) external {
        _requireRedeemable(_msgSender());
        _burnPartition(partition, _msgSender(), value, '');
        emit Redeemed(_msgSender(), _msgSender(), value, data);
    }

    function operatorRedeemByPartition(
        bytes32 partition,
        address holder,
        uint256 value,
        bytes calldata operatorData
    ) external {
        if (_actsForHolder(partition, _msgSender(), holder)) {
            _requireRedeemable(holder);
            _burnPartition(partition, holder, value, operatorData);
        } else {
            _requireController(INVALID_OPERATOR);
            _burnPartition(partition, holder, value, operatorData);
            emit ControllerRedemption(_msgSender(), holder, value, '', operatorData);
        }
    }

    /// @notice Moves a holder's units between two partitions, as the issuer decides (for example
    /// out of a restricted class).
    function changePartition(
        bytes32 fromPartition,
        bytes32 toPartition,
        address holder,
        uint256 value
    ) external onlyRole(ISSUER_ROLE) {
        _debit(fromPartition, holder, value);
        _credit(toPartition, holder, value);
        totalSupplyByPartition[fromPartition] -= value;
        totalSupplyByPartition[toPartition] += value;
        emit ChangedPartition(fromPartition, toPartition, value);
    }

    function authorizeOperator(address operator) external {
        if (operator == _msgSender()) revert SelfOperator();
        _operators[_msgSender()][operator] = true;
        emit AuthorizedOperator(operator, _msgSender());
    }

    function revokeOperator(address operator) external {
        if (operator == _msgSender()) revert SelfOperator();
        _operators[_msgSender()][operator] = false;
        emit RevokedOperator(operator, _msgSender());
    }

    function authorizeOperatorByPartition(bytes32 partition, address operator) external {
        _partitionOperators[_msgSender()][partition][operator] = true;
        emit AuthorizedOperatorByPartition(partition, operator, _msgSender());
    }

    function revokeOperatorByPartition(bytes32 partition, address operator) external {
        _partitionOperators[_msgSender()][partition][operator] = false;
        emit RevokedOperatorByPartition(partition, operator, _msgSender());
    }

    /// @notice A holder is its own operator; so is a controller while the token is controllable.
    function isOperator(address operator, address holder) public view returns (bool) {
        return operator == holder || _operators[holder][operator] || _isController(operator);
    }

    function isOperatorForPartition(
        bytes32 partition,
        address operator,
        address holder
    ) external view returns (bool) {
        return isOperator(operator, holder) || _partitionOperators[holder][partition][operator];
    }

    // --- ERC-1643 ---------------------------------------------------------------------------

    function setDocument(
        bytes32 name_,
        string calldata uri,
        bytes32 hash
    ) external onlyRole(DOCUMENT_ROLE) {
        _setDocument(name_, uri, hash);
    }

    function removeDocument(bytes32 name_) external onlyRole(DOCUMENT_ROLE) {
        _removeDocument(name_);
    }

    // --- ERC-1644 ---------------------------------------------------------------------------

    /// @notice Takes units from whichever partitions the holder has, in their order.
    function controllerTransfer(
        address from,
        address to,
        uint256 value,
        bytes calldata data,
        bytes calldata operatorData
    ) external {
        _requireController(INVALID_OPERATOR);
        (bytes1 code, bytes32 reason) = _checkReceiver(from, to, value);
        _require(code, reason);
        // One pass over the partitions there are now: a movement to oneself changes their order.
        bytes32[] memory partitions = _partitionsOf[from];
        uint256 left = value;
        for (uint256 i = 0; i < partitions.length && left != 0; i++) {
            uint256 part = _min(_balances[from][partitions[i]], left);
            _movePartition(partitions[i], from, to, part, data, operatorData);
            left -= part;
        }
        if (left != 0) revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        emit ControllerTransfer(_msgSender(), from, to, value, data, operatorData);
    }

    function controllerRedeem(
        address holder,
        uint256 value,
        bytes calldata data,
        bytes calldata operatorData
    ) external {
        _requireController(INVALID_OPERATOR);
        bytes32[] memory partitions = _partitionsOf[holder];
        uint256 left = value;
        for (uint256 i = 0; i < partitions.length && left != 0; i++) {
            uint256 part = _min(_balances[holder][partitions[i]], left);
            _burnPartition(partitions[i], holder, part, operatorData);
            left -= part;
        }
        if (left != 0) revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        emit ControllerRedemption(_msgSender(), holder, value, data, operatorData);
    }

    // --- Rules ------------------------------------------------------------------------------

    function _check(address from, address to, uint256 value) private view returns (bytes1, bytes32) {
        if (paused()) return (HALTED, NONE);
        if (block.timestamp < lockUpUntil) return (LOCKED, NONE);
        if (!allowlisted[from]) return (INVALID_SENDER, NOT_ALLOWLISTED);
        return _checkReceiver(from, to, value);
    }

    function _checkReceiver(
        address from,
        address to,
        uint256 value
    ) private view returns (bytes1, bytes32) {
        if (to == address(0) || !allowlisted[to]) return (INVALID_RECEIVER, NOT_ALLOWLISTED);
        if (value == 0 || from == to) return (SUCCESS, NONE);
        uint256 held = balanceOf(to);
        if (holdingMaxBps != 0 && (held + value) * BPS > totalUnits * holdingMaxBps) {
            return (INVALID_RECEIVER, HOLDING_MAX);
        }
        // A sender who parts with everything makes room for the receiver.
        bool leaves = from != address(0) && balanceOf(from) == value;
        if (holdersMax != 0 && held == 0 && holderCount >= holdersMax && !leaves) {
            return (INVALID_RECEIVER, HOLDERS_MAX);
        }
        return (SUCCESS, NONE);
    }

    function _canTransferDefault(
        address from,
        address to,
        uint256 value
    ) private view returns (bytes1, bytes32) {
        uint256 available = 0;
        for (uint256 i = 0; i < _defaultPartitions.length; i++) {
            available += _balances[from][_defaultPartitions[i]];
        }
        if (available < value) return (INSUFFICIENT_BALANCE, NONE);
        return _check(from, to, value);
    }

    function _require(bytes1 code, bytes32 reason) private pure {
        if (code != SUCCESS) revert TransferRefused(code, reason);
    }

    /// Redemption needs the holder's good standing, but no lock-up holds a holder in.
    function _requireRedeemable(address holder) private view {
        if (paused()) revert TransferRefused(HALTED, NONE);
        if (!allowlisted[holder]) revert TransferRefused(INVALID_SENDER, NOT_ALLOWLISTED);
    }

    function _isController(address account) private view returns (bool) {
        return isControllable && hasRole(CONTROLLER_ROLE, account);
    }

    function _requireController(bytes1 code) private view {
        if (_isController(_msgSender())) return;
        if (hasRole(CONTROLLER_ROLE, _msgSender())) revert NotControllable();
        revert TransferRefused(code, NONE);
    }

    function _actsForHolder(
        bytes32 partition,
        address operator,
        address holder
    ) private view returns (bool) {
        return
            operator == holder ||
            _operators[holder][operator] ||
            _partitionOperators[holder][partition][operator];
    }

    function _setAllowlisted(address account, bool allowed) private {
        allowlisted[account] = allowed;
        emit AllowlistUpdated(account, allowed);
    }

    // --- Movements --------------------------------------------------------------------------

    function _transferDefault(address from, address to, uint256 value, bytes memory data) private {
        (bytes1 code, bytes32 reason) = _canTransferDefault(from, to, value);
        _require(code, reason);
        uint256 left = value;
        for (uint256 i = 0; i < _defaultPartitions.length && left != 0; i++) {
            bytes32 partition = _defaultPartitions[i];
            uint256 part = _min(_balances[from][partition], left);
            if (part == 0) continue;
            _debit(partition, from, part);
            _credit(partition, to, part);
            emit TransferByPartition(partition, _msgSender(), from, to, part, data, '');
            left -= part;
        }
        _transfer(from, to, value);
    }

    function _redeemDefault(address holder, uint256 value, bytes memory data) private {
        _requireRedeemable(holder);
        uint256 left = value;
        for (uint256 i = 0; i < _defaultPartitions.length && left != 0; i++) {
            uint256 part = _min(_balances[holder][_defaultPartitions[i]], left);
            if (part == 0) continue;
            _burnPartition(_defaultPartitions[i], holder, part, '');
            left -= part;
        }
        if (left != 0) revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        emit Redeemed(_msgSender(), holder, value, data);
    }

    function _transferPartition(
        bytes32 partition,
        address from,
        address to,
        uint256 value,
        bytes memory data,
        bytes memory operatorData
    ) private {
        if (_balances[from][partition] < value) revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        (bytes1 code, bytes32 reason) = _check(from, to, value);
        _require(code, reason);
        _movePartition(partition, from, to, value, data, operatorData);
    }

    /// A controller's movement: only the receiver's standing counts.
    function _forcePartition(
        bytes32 partition,
        address from,
        address to,
        uint256 value,
        bytes memory data,
        bytes memory operatorData
    ) private {
        if (_balances[from][partition] < value) revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        (bytes1 code, bytes32 reason) = _checkReceiver(from, to, value);
        _require(code, reason);
        _movePartition(partition, from, to, value, data, operatorData);
    }

    function _movePartition(
        bytes32 partition,
        address from,
        address to,
        uint256 value,
        bytes memory data,
        bytes memory operatorData
    ) private {
        _debit(partition, from, value);
        _credit(partition, to, value);
        _transfer(from, to, value);
        emit TransferByPartition(partition, _msgSender(), from, to, value, data, operatorData);
    }

    function _issue(
        bytes32 partition,
        address holder,
        uint256 value,
        bytes memory data
    ) private onlyRole(ISSUER_ROLE) {
        if (!isIssuable) revert NotIssuable();
        if (paused()) revert TransferRefused(HALTED, NONE);
        if (totalSupply() + value > totalUnits) revert UnitsExceeded(totalSupply() + value, totalUnits);
        (bytes1 code, bytes32 reason) = _checkReceiver(address(0), holder, value);
        _require(code, reason);
        _credit(partition, holder, value);
        totalSupplyByPartition[partition] += value;
        _mint(holder, value);
        emit IssuedByPartition(partition, _msgSender(), holder, value, data, '');
    }

    function _burnPartition(
        bytes32 partition,
        address holder,
        uint256 value,
        bytes memory operatorData
    ) private {
        if (_balances[holder][partition] < value) {
            revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        }
        _debit(partition, holder, value);
        totalSupplyByPartition[partition] -= value;
        _burn(holder, value);
        emit RedeemedByPartition(partition, _msgSender(), holder, value, operatorData);
    }

    function _credit(bytes32 partition, address holder, uint256 value) private {
        if (value == 0) return;
        if (_balances[holder][partition] == 0) {
            _partitionsOf[holder].push(partition);
            _partitionSlot[holder][partition] = _partitionsOf[holder].length;
        }
        _balances[holder][partition] += value;
    }

    /// Callers have compared the balance already; a lack of it here is refused all the same.
    function _debit(bytes32 partition, address holder, uint256 value) private {
        if (value == 0) return;
        uint256 held = _balances[holder][partition];
        if (held < value) revert TransferRefused(INSUFFICIENT_BALANCE, NONE);
        _balances[holder][partition] = held - value;
        if (held != value) return;
        bytes32[] storage partitions = _partitionsOf[holder];
        uint256 slot = _partitionSlot[holder][partition];
        bytes32 last = partitions[partitions.length - 1];
        partitions[slot - 1] = last;
        _partitionSlot[holder][last] = slot;
        partitions.pop();
        delete _partitionSlot[holder][partition];
    }

    /// Counts holders; every movement of ERC-20 balance passes here.
    function _update(address from, address to, uint256 value) internal override {
        bool moves = value != 0 && from != to;
        if (moves && to != address(0) && balanceOf(to) == 0) holderCount++;
        super._update(from, to, value);
        if (moves && from != address(0) && balanceOf(from) == 0) holderCount--;
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
